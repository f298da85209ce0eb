import { readdirSync } from 'node:fs'
import type { Choice, Wants } from './completions-of.ts'

const KINDS: Readonly<Record<NonNullable<Wants['files']>, RegExp>> = {
  documents: /\.(ya?ml|json|ndjson|ipynb|md)$/i,
  any: /./,
  folders: /\/$/,
}

/** Entries of the folder the typed beginning names; a folder ends in `/`. Hidden ones only after a dot. */
export function fileChoices(partial: string, kind: NonNullable<Wants['files']>): readonly Choice[] {
  const folder = partial.slice(0, partial.lastIndexOf('/') + 1)
  const begun = partial.slice(folder.length)
  return entriesOf(folder)
    .filter((name) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
    .filter((name) => name.endsWith('/') || KINDS[kind].test(name))
    .map((name) => ({ value: `${folder}${name}` }))
}

function entriesOf(folder: string): readonly string[] {
  try {
    const found = readdirSync(folder === '' ? '.' : folder, { withFileTypes: true })
    return found.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort()
  } catch {
    return []
  }
}
