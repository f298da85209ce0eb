import type { Demand } from './demand.ts'
import { sentencesOf } from './sentences.ts'
import type { Draft, Task } from './tool.ts'

const AGAIN = 'Once more, to the length asked for:'

/**
 * The draft's text with what feedback asks for added below it, in the inputs' own words (the prompt's, when the inputs
 * have none). A wanted word that no input has is answered by saying so, which also contains it; a length the inputs
 * cannot fill is filled by saying them once more, under a line that says it. Impossible, and then left short: a length
 * when neither inputs nor prompt hold a letter or digit.
 */
export function obey(draft: Draft, task: Task, demand: Demand): string {
  const said = [...new Set(task.sources.flatMap(({ sentences }) => sentences))]
  const material = said.length > 0 ? said : sentencesOf(task.prompt)
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
