import { distinctProseSentences } from './input-sentences.ts'
import type { Draft, Task } from './tools.ts'

/** What feedback asks of one string port. */
interface Demand {
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
export function readDemand(port: string, ports: readonly string[], feedback: readonly string[]): Demand {
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

const AGAIN = 'Once more, to the length asked for:'

/**
 * The draft's text with what feedback asks for added below it, in the inputs' own words (the prompt's, when the inputs
 * have none). A wanted word that no input has is answered by saying so, which also contains it; a length the inputs
 * cannot fill is filled by saying them once more, under a line that says it. Impossible, and then left short: a length
 * when neither inputs nor prompt hold a letter or digit.
 */
export function followFeedback(draft: Draft, task: Task, demand: Demand): string {
  const said = [...new Set(task.sources.flatMap(({ sentences }) => sentences))]
  const material = said.length > 0 ? said : distinctProseSentences(task.prompt)
  const first = demand.missing && draft.text.trim() === '' ? material.slice(0, 1) : []
  const wanted = [...first, ...wantedLines(draft.text, demand, [...material, ...draft.reserve])]
  const text = append(draft.text, wanted, draft.bullet)
  return lengthen(text, demand.length, [...new Set([...draft.reserve, ...material])], draft.bullet)
}

function wantedLines(text: string, { words, some }: Demand, material: readonly string[]): readonly string[] {
  const lines: string[] = []
  const has = (word: string, test: typeof mentions) => test(text, word) || lines.some((line) => test(line, word))
  for (const word of words) if (!has(word, includes)) lines.push(exactLine(word, material))
  for (const { of, least } of some) {
    const open = mentionedFirst(of, material).filter((word) => !has(word, mentions))
    // Each line may bring in several words, so what is still open is asked again.
    while (open.length > of.length - least && open[0] !== undefined) {
      lines.push(lineWith(open[0], material))
      open.splice(0, open.length, ...open.filter((word) => !has(word, mentions)))
    }
  }
  return lines
}

/** With the word exactly as wanted: whether its case matters is not in the feedback. */
function exactLine(word: string, material: readonly string[]): string {
  const exact = material.find((line) => line.includes(word))
  if (exact !== undefined) return exact
  const near = lineWith(word, material)
  return near.includes(word) ? near : `${word}: ${near}`
}

/** Keywords are looked for whatever their case. */
function lineWith(word: string, material: readonly string[]): string {
  return material.find((line) => mentions(line, word)) ?? `The inputs do not mention "${word}".`
}

function mentionedFirst(words: readonly string[], material: readonly string[]): readonly string[] {
  const known = new Set(words.filter((word) => material.some((line) => mentions(line, word))))
  return [...known, ...words.filter((word) => !known.has(word))]
}

function includes(line: string, word: string): boolean {
  return line.includes(word)
}

function mentions(line: string, word: string): boolean {
  return line.toUpperCase().includes(word.toUpperCase())
}

function lengthen(text: string, least: number, material: readonly string[], bullet: Draft['bullet']): string {
  let size = characters(text)
  const take = (lines: readonly string[]) => {
    const taken: string[] = []
    for (const line of lines) {
      if (size >= least) break
      taken.push(line)
      size += characters(line)
    }
    return taken
  }
  const fresh = size < least ? material.filter((line) => !text.includes(line)) : []
  const long = append(text, take(fresh), bullet)
  if (size >= least || material.length === 0) return long
  size += characters(AGAIN)
  const again: string[] = []
  while (size < least) again.push(...take(material))
  return append(append(long, [AGAIN], ''), again, bullet)
}

/** Lines below a text: paragraphs, or items that go on where its list ends. */
function append(text: string, lines: readonly string[], bullet: Draft['bullet']): string {
  if (lines.length === 0) return text
  const before = text.trimEnd()
  const numbered = bullet === '1.' ? (before.match(/^\d+\. /gm) ?? []).length : 0
  const marked = lines.map((line, at) =>
    bullet === '1.' ? `${numbered + at + 1}. ${line}` : `${bullet} ${line}`.trimStart(),
  )
  const below = marked.join(bullet === '' ? '\n\n' : '\n')
  if (before === '') return below
  const inList = bullet !== '' && /^\s*(?:-|\d+\.) /.test(before.slice(before.lastIndexOf('\n') + 1))
  return `${before}${inList ? '\n' : '\n\n'}${below}`
}

function characters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
