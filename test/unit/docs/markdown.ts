import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The checkout; documents are read as they are, they are what the tests are about. */
const ROOT = resolve(import.meta.dirname, '../../..')

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Paths of the files below the folders, with one of the endings. */
export function filesBelow(folders: readonly string[], ending: string): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(ending))
      .map((path) => join(folder, path)),
  )
}

/** The cells of every table row below a heading, up to the next heading of any level; head and rule left out. */
export function rowsBelow(text: string, heading: string): readonly (readonly string[])[] {
  // A comment in a block of code is no heading.
  const lines = text.replace(/^```[\s\S]*?^```$/gm, '').split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start < 0) throw new Error(`there is no heading "${heading}"`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#+ /.test(line))
  const rows = rest.slice(0, end < 0 ? undefined : end).filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** Every text in backticks of a cell. */
export function codesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** Bodies of the fenced blocks of one language. */
export function fencedBlocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, body = '']) => body)
}
