import { displayWidth, endOf, startOf } from './display-width.ts'

/** At most `columns` columns, with the ellipsis in the middle: ids that begin alike are still told apart. */
export function cutMiddle(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  const tail = Math.floor((columns - 1) / 2)
  return `${startOf(text, columns - 1 - tail)}…${endOf(text, tail)}`
}
