import type { Demand } from './demand.ts'
import { sentencesOf } from './sentences.ts'
import type { Draft, Task } from './tool.ts'

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
  const wanted = [...first, ...wantedLines(draft.text, demand, material)]
  const text = wanted.reduce((long, line) => append(long, line, draft.bullet), draft.text)
  return lengthen(text, demand.length, [...new Set([...draft.reserve, ...material])], draft.bullet)
}

function wantedLines(text: string, { words, some }: Demand, material: readonly string[]): readonly string[] {
  const lines: string[] = []
  const has = (word: string) => text.includes(word) || lines.some((line) => line.includes(word))
  for (const word of words) if (!has(word)) lines.push(lineWith(word, material))
  for (const { of, least } of some) {
    const open = mentionedFirst(of, material).filter((word) => !has(word))
    // Each line may bring in several words, so what is still open is asked again.
    while (open.length > of.length - least && open[0] !== undefined) {
      lines.push(lineWith(open[0], material))
      open.splice(0, open.length, ...open.filter((word) => !has(word)))
    }
  }
  return lines
}

function lineWith(word: string, material: readonly string[]): string {
  const exact = material.find((sentence) => sentence.includes(word))
  if (exact !== undefined) return exact
  const near = material.find((sentence) => mentions(sentence, word))
  return near === undefined ? `The inputs do not mention "${word}".` : `${word}: ${near}`
}

function mentionedFirst(words: readonly string[], material: readonly string[]): readonly string[] {
  const known = new Set(words.filter((word) => material.some((line) => mentions(line, word))))
  return [...known, ...words.filter((word) => !known.has(word))]
}

function mentions(line: string, word: string): boolean {
  return line.toLowerCase().includes(word.toLowerCase())
}

function lengthen(text: string, least: number, material: readonly string[], bullet: Draft['bullet']): string {
  let long = text
  let size = characters(long)
  const add = (line: string, mark: Draft['bullet']) => {
    long = append(long, line, mark)
    size += characters(line)
  }
  for (const line of material) if (size < least && !long.includes(line)) add(line, bullet)
  if (size >= least || material.length === 0) return long
  add('Once more, to the length asked for:', '')
  while (size < least) for (const line of material) if (size < least) add(line, bullet)
  return long
}

function append(text: string, line: string, bullet: Draft['bullet']): string {
  const before = text.trimEnd()
  if (bullet === '') return before === '' ? line : `${before}\n\n${line}`
  const lastLine = before.slice(before.lastIndexOf('\n') + 1)
  const gap = before === '' ? '' : /^\s*(?:-|\d+\.) /.test(lastLine) ? '\n' : '\n\n'
  const mark = bullet === '1.' ? `${(before.match(/^\d+\. /gm) ?? []).length + 1}.` : bullet
  return `${before}${gap}${mark} ${line}`
}

function characters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
