/** Where a line of a text begins and ends, to show it: lines count from 1. */
export function lineRange(text: string, line: number): readonly [from: number, to: number] {
  const lines = text.split('\n')
  const at = Math.min(Math.max(line, 1), lines.length) - 1
  const from = lines.slice(0, at).reduce((sum, one) => sum + one.length + 1, 0)
  return [from, from + (lines[at]?.length ?? 0)]
}
