// What TSX is compiled to: calls of h.
export { Fragment, h } from "preact";
