/** JSON's number grammar and nothing around it: no sign `+`, no hex, no `1,000`, no spaces, no `NaN`. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Longer texts are no number anybody meant. */
const MAX_CHARACTERS = 400

/** The finite number a text exactly is, as JSON readers see it (IEEE double); else undefined. */
export function strictNumber(text: string): number | undefined {
  if (text.length > MAX_CHARACTERS || !NUMBER.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}
