import type { Json } from '../../canonical.ts'
import { type Edited, setYamlValue } from './set-yaml-value.ts'

/** The YAML at the head of a Markdown text, between two lines `---`; offsets of the YAML itself. */
export type FrontMatter =
  | { readonly kind: 'none' }
  | { readonly kind: 'open' }
  | { readonly kind: 'found'; readonly from: number; readonly to: number }

const OPEN = /^\uFEFF?---[ \t]*(?:\r\n|\n|\r)/
const CLOSE = /^(?:---|\.\.\.)[ \t]*$/m

/** `open`: it begins and never ends. */
export function findFrontMatter(text: string): FrontMatter {
  const opened = OPEN.exec(text)
  if (opened === null) return { kind: 'none' }
  const from = opened[0].length
  const closed = text.slice(from).search(CLOSE)
  return closed < 0 ? { kind: 'open' } : { kind: 'found', from, to: from + closed }
}

/** The YAML alone, one line down: its lines are those of the text. undefined = there is none. */
export function frontMatterYaml(text: string): string | undefined {
  const found = findFrontMatter(text)
  return found.kind === 'found' ? `\n${text.slice(found.from, found.to)}` : undefined
}

/** The text with a value at a path of its front matter, which is made where there is none. Other bytes are kept. */
export function setFrontMatter(text: string, path: readonly [string, ...string[]], value: Json): Edited {
  const found = findFrontMatter(text)
  if (found.kind === 'open') return { ok: false, problem: 'its front matter begins with "---" and never ends' }
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n'
  if (found.kind === 'found') {
    const edited = setYamlValue(text.slice(found.from, found.to), path, value, { eol })
    return edited.ok ? { ok: true, text: text.slice(0, found.from) + edited.text + text.slice(found.to) } : edited
  }
  const made = setYamlValue('', path, value, { eol })
  if (!made.ok) return made
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  return { ok: true, text: `${text.slice(0, mark)}---${eol}${made.text}---${eol}${text.slice(mark)}` }
}
