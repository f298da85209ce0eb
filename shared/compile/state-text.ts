import { boundBytes } from './bound-bytes.ts'
import type { States } from './emit-block.ts'

/** States as the members of a JSON object, without its braces: machine text is made of these. */
export function statesText(states: States): string {
  return JSON.stringify(states).slice(1, -1)
}

/** Text of states with holes in it, filled in the order of the template's names. */
export interface Template {
  readonly fill: (values: readonly string[]) => string
  /** Bytes of the filled text once its placeholders are bound, by the lengths of the values. */
  readonly bytes: (lengths: readonly number[]) => number
}

/**
 * The states with each `@name@` in their texts a hole, as is `"#name#"` with its quotes (a number). Most of a state never
 * changes: it is written once. Names and ids hold neither `@` nor `#`, nor anything JSON would escape.
 */
export function templateOf(states: States, names: readonly string[]): Template {
  // split() gives text, first group, second group, text, ..
  const parts = statesText(states).split(/"#(\w+)#"|@(\w+)@/)
  const first = parts[0] ?? ''
  const rest: { readonly hole: number; readonly text: string }[] = []
  for (let at = 1; at < parts.length; at += 3) {
    rest.push({ hole: names.indexOf(parts[at] ?? parts[at + 1] ?? ''), text: parts[at + 2] ?? '' })
  }
  const fixed = boundBytes(first) + rest.reduce((sum, { text }) => sum + boundBytes(text), 0)
  const uses = names.map((_, i) => rest.filter(({ hole }) => hole === i).length)
  return {
    fill: (values) => {
      let text = first
      for (const { hole, text: next } of rest) text += (values[hole] ?? '') + next
      return text
    },
    bytes: (lengths) => {
      let bytes = fixed
      for (let hole = 0; hole < uses.length; hole++) bytes += (uses[hole] ?? 0) * (lengths[hole] ?? 0)
      return bytes
    },
  }
}
