import { signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const kept = localStorage.getItem("kron.theme");
export const theme = signal<Theme>(kept === "light" || kept === "dark" ? kept : "auto");
const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const isDark = theme.value === "dark" || (theme.value === "auto" && dark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  dispatchEvent(new Event("kron-theme"));
}
export function nextTheme(): void {
  theme.value = theme.value === "auto" ? "light" : theme.value === "light" ? "dark" : "auto";
  localStorage.setItem("kron.theme", theme.value);
  apply();
}
dark.addEventListener("change", apply);
apply();
