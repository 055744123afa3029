import type { Shape } from "./shapes";

const cache = new Map<string, string>();
addEventListener("kron-theme", () => cache.clear());
function colour(name: string): string {
  let found = cache.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || name;
    cache.set(name, found);
  }
  return found;
}

// Draws the shapes on the canvas, at the size it has on the page.
export function paint(canvas: HTMLCanvasElement, width: number, height: number, shapes: Shape[]): void {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const font = getComputedStyle(document.body).fontFamily;
  // Thousands of marks of one colour are one path: that is what makes them cheap.
  let alike: Plain | null = null;
  const flush = (): void => {
    if (alike) fillPath(context, alike);
    alike = null;
  };
  for (const shape of shapes) {
    if (shape.kind !== "rect" || shape.stroke || !shape.fill) {
      flush();
      draw(context, shape, font);
      continue;
    }
    if (alike?.fill !== shape.fill || alike.opacity !== shape.opacity) {
      flush();
      context.beginPath();
      alike = shape;
    }
    rectPath(context, shape);
  }
  flush();
}
type Plain = Shape & { kind: "rect" };
function rectPath(context: CanvasRenderingContext2D, { x, y, w, h, r = 0 }: Plain): void {
  // Nobody sees the corners of a small one.
  if (r > 1.5) context.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
  else context.rect(x, y, w, h);
}
function fillPath(context: CanvasRenderingContext2D, { fill, opacity }: Plain): void {
  context.globalAlpha = opacity ?? 1;
  finish(context, fill, undefined, 1);
  context.globalAlpha = 1;
}

function draw(context: CanvasRenderingContext2D, shape: Shape, font: string): void {
  context.globalAlpha = "opacity" in shape && shape.opacity !== undefined ? shape.opacity : 1;
  switch (shape.kind) {
    case "rect":
      context.beginPath();
      rectPath(context, shape);
      finish(context, shape.fill, shape.stroke, 1, shape.dash);
      break;
    case "line":
      context.beginPath();
      context.moveTo(shape.x1, shape.y1);
      context.lineTo(shape.x2, shape.y2);
      finish(context, undefined, shape.stroke, shape.width ?? 1, shape.dash);
      break;
    case "text":
      context.font = `${shape.weight ?? 400} ${shape.size ?? 11}px ${font}`;
      context.textAlign = shape.align ?? "left";
      context.fillStyle = colour(shape.fill);
      context.fillText(cut(context, shape.text, shape.most), shape.x, shape.y);
      break;
    case "circle":
      context.beginPath();
      context.arc(shape.x, shape.y, shape.r, 0, 2 * Math.PI);
      finish(context, shape.fill, shape.stroke, shape.width ?? 1);
      break;
    case "path":
      context.beginPath();
      shape.points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
      finish(context, shape.fill, shape.stroke, shape.width ?? 1);
      break;
    case "glyph":
      glyph(context, shape.x, shape.y, shape.mark);
      break;
    case "hatch":
      context.save();
      context.beginPath();
      context.rect(shape.x, shape.y, shape.w, shape.h);
      context.clip();
      context.beginPath();
      for (let x = shape.x - shape.h; x < shape.x + shape.w; x += 7) {
        context.moveTo(x, shape.y + shape.h);
        context.lineTo(x + shape.h, shape.y);
      }
      context.globalAlpha = 0.4;
      finish(context, undefined, shape.stroke, 1.2);
      context.restore();
      break;
  }
  context.globalAlpha = 1;
}

function finish(context: CanvasRenderingContext2D, fill: string | undefined, stroke: string | undefined, width: number, dash?: boolean): void {
  if (fill) {
    context.fillStyle = colour(fill);
    context.fill();
  }
  if (stroke) {
    context.strokeStyle = colour(stroke);
    context.lineWidth = width;
    context.setLineDash(dash ? [3, 2] : []);
    context.stroke();
    context.setLineDash([]);
  }
}

function cut(context: CanvasRenderingContext2D, text: string, most: number | undefined): string {
  if (most === undefined || context.measureText(text).width <= most) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= most) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

// Shape and colour together, never colour alone; the same shapes as in Glyph.
function glyph(context: CanvasRenderingContext2D, x: number, y: number, mark: string): void {
  context.beginPath();
  const ink = (name: string, width = 1.8): void => {
    context.strokeStyle = colour(name);
    context.lineWidth = width;
    context.stroke();
  };
  switch (mark) {
    case "fail":
    case "failed":
      context.moveTo(x - 3.5, y - 3.5);
      context.lineTo(x + 3.5, y + 3.5);
      context.moveTo(x + 3.5, y - 3.5);
      context.lineTo(x - 3.5, y + 3.5);
      return ink("fail", 2);
    case "skip":
      context.moveTo(x - 4.5, y);
      context.lineTo(x + 4.5, y);
      return ink("skip", 2.4);
    case "miss":
      context.moveTo(x, y - 4.5);
      context.lineTo(x + 4.5, y);
      context.lineTo(x, y + 4.5);
      context.lineTo(x - 4.5, y);
      context.closePath();
      return ink("miss", 1.6);
    case "none":
      context.arc(x, y, 4, 0, 2 * Math.PI);
      context.moveTo(x - 2.8, y + 2.8);
      context.lineTo(x + 2.8, y - 2.8);
      return ink("none", 1.6);
    case "over":
      for (const step of [-3.5, 0, 3.5]) {
        context.moveTo(x + step + 1, y);
        context.arc(x + step, y, 1, 0, 2 * Math.PI);
      }
      context.fillStyle = colour("over");
      return context.fill();
    case "unknown":
      context.arc(x, y, 3.6, 0, 2 * Math.PI);
      return ink("fail", 1.4);
    default:
      return undefined;
  }
}
