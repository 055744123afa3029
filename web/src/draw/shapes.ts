// What is drawn, as values: views make lists of shapes, and one painter draws them. Colours are names of tokens.
export type Colour = string; // "after": var(--after)

export type Shape =
  | { kind: "rect"; x: number; y: number; w: number; h: number; r?: number; fill?: Colour; stroke?: Colour; dash?: boolean; opacity?: number }
  | { kind: "line"; x1: number; y1: number; x2: number; y2: number; stroke: Colour; width?: number; dash?: boolean; opacity?: number }
  | { kind: "text"; x: number; y: number; text: string; fill: Colour; align?: CanvasTextAlign; size?: number; weight?: number; most?: number }
  | { kind: "circle"; x: number; y: number; r: number; fill?: Colour; stroke?: Colour; width?: number }
  | { kind: "path"; points: [number, number][]; stroke?: Colour; fill?: Colour; width?: number; opacity?: number }
  | { kind: "glyph"; x: number; y: number; mark: string }
  | { kind: "hatch"; x: number; y: number; w: number; h: number; stroke: Colour };

// Where a mark can be pointed at, and what it is.
export interface Spot {
  x: number;
  y: number;
  w: number;
  h: number;
  lines: () => string[]; // the first is its name; made when somebody looks
  href?: string;
}
