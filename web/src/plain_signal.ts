// Takes the place of signals where nothing is redrawn by itself: in the page that `kron simulate` writes.
export function signal<T>(value: T): { value: T } {
  return { value };
}
