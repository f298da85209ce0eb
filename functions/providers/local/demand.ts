/** What feedback asks of one string port. */
export interface Demand {
  /** Characters (code points) it must have at least; 0 = any. */
  readonly length: number
  readonly words: readonly string[]
  readonly some: readonly { readonly of: readonly string[]; readonly least: number }[]
  readonly missing: boolean
}

/** Above this a length is not obeyed: the padding would help nobody. */
const MAX_LENGTH = 200_000

/**
 * Reads feedback lines of the forms our gates and contract write; what stands before the form (gate name, author's
 * text) does not matter, other lines ask nothing. A line that names one of `ports` concerns that port alone.
 */
export function demandOf(port: string, ports: readonly string[], feedback: readonly string[]): Demand {
  const lines = feedback.filter((line) => (namedPort(line, ports) ?? port) === port)
  const lengths = lines.map((line) => Number(/must be at least (\d+) characters/.exec(line)?.[1] ?? 0))
  const some = lines.flatMap((line) => {
    const [, least, list] = /must contain at least (\d+) of the keywords (".*"); found/s.exec(line) ?? []
    return list === undefined ? [] : [{ least: Number(least), of: quotedTexts(list) }]
  })
  return {
    length: Math.max(0, ...lengths.filter((length) => length <= MAX_LENGTH)),
    words: lines.flatMap((line) => quotedTexts(/must contain (".*)$/s.exec(line)?.[1] ?? '')),
    some,
    missing: lines.some((line) => line.includes(`missing port ${port}`)),
  }
}

function namedPort(line: string, ports: readonly string[]): string | undefined {
  const named = /\bport "?([A-Za-z][A-Za-z0-9_-]*)/.exec(line)?.[1]
  return ports.find((port) => port === named)
}

/** `"a", "b"`; a text our gates cut (it ends in `…`) or that lost its closing quote cannot be known and is left out. */
function quotedTexts(list: string): readonly string[] {
  const parts = list.slice(1).split('", "')
  const last = parts.pop() ?? ''
  if (last.endsWith('"')) parts.push(last.slice(0, -1))
  return parts.filter((text) => text !== '' && !text.endsWith('…'))
}
