import type { DatabaseSync } from 'node:sqlite'
import { type Link, type LinkPlace, nameLinks, type Written } from '../../shared/graph/mentions.ts'
import type { LinkQuery } from '../../shared/graph/search-index.ts'
import { MAY_MENTION, MENTIONS } from '../../shared/graph/triple.ts'
import { readLiterals } from './find-mentions.ts'
import { PASSAGE_SPAN } from './index-file.ts'
import { rangeOf } from './link-writer.ts'

/** An edge between nodes. */
interface NodeLink {
  readonly src: number
  readonly dst: number
  readonly sure: boolean
}

/** The edges that texts make by one name: from each of `sources` to each of `nodes`. */
interface NameLinks {
  readonly sources: ReadonlySet<number>
  /** Who bears the name. */
  readonly nodes: readonly number[]
}

/** Every edge that texts make, name by name; `texts`: how many passages there are. */
export function* allLinks(db: DatabaseSync, texts: number): Generator<NameLinks> {
  // One row a name: a list of numbers as text is read several times faster than a row a mention.
  const rows = db
    .prepare(
      `SELECT m.met, group_concat(n.node) AS nodes, group_concat(DISTINCT n.written) AS written
       FROM (SELECT name, group_concat(passage * 2 + capital) AS met FROM mentions GROUP BY name) m
         JOIN named n ON n.name = m.name GROUP BY m.name`,
    )
    .iterate()
  for (const row of rows) {
    const nodes = numbersOf(row.nodes)
    const written = writtenOf(String(row.written).split(','))
    yield { sources: sourcesOf(numbersOf(row.met), { nodes, written, texts }), nodes }
  }
}

function numbersOf(list: unknown): readonly number[] {
  return String(list).split(',').map(Number)
}

/** Whose passages name it; `met`: twice the passage, and one more where it has a capital. */
function sourcesOf(
  met: readonly number[],
  { nodes, written, texts }: { readonly nodes: readonly number[]; readonly written: Written; readonly texts: number },
): ReadonlySet<number> {
  const capital = met.filter((one) => one % 2 === 1)
  const use = { written, bearers: nodes.length, capital: capital.length, small: met.length - capital.length }
  const links = nameLinks(use, texts)
  const taken = { all: met, capital, none: [] }[links]
  return new Set(taken.map((one) => Math.floor(one / 2 / PASSAGE_SPAN)))
}

function borneBy(db: DatabaseSync) {
  const find = db.prepare('SELECT node, written FROM named WHERE name = ? ORDER BY node')
  return (name: number): { readonly nodes: readonly number[]; readonly written: Written } => {
    const rows = find.all(name)
    return { nodes: rows.map(({ node }) => Number(node)), written: writtenOf(rows.map(({ written }) => written)) }
  }
}

/** Of namesakes of whom one is written small, small letters say nothing. */
function writtenOf(forms: readonly unknown[]): Written {
  if (forms.includes('small')) return 'small'
  return forms.includes('first') ? 'first' : 'proper'
}

/** Places told of one edge. */
const MOST_PLACES = 5

/** What texts say of some entities: `out` what theirs name, `in` whose name them; by id, predicate and other end. */
export function linksOf(db: DatabaseSync, texts: number, { entity_ids, direction, limit }: LinkQuery): readonly Link[] {
  const node = db.prepare('SELECT node FROM entities WHERE entity_id = ? AND hash IS NOT NULL')
  const id = db.prepare('SELECT entity_id FROM entities WHERE node = ?')
  const idOf = (number: number) => String(id.get(number)?.entity_id ?? '')
  const reader = readerOf(db, texts)
  return entity_ids.flatMap((entity_id) => {
    const row = node.get(entity_id)
    if (row === undefined) return []
    const found = reader[direction](Number(row.node)).map(({ src, dst, sure, places }) => ({
      subject: idOf(src),
      predicate: sure ? MENTIONS : MAY_MENTION,
      object: idOf(dst),
      places: places.slice(0, MOST_PLACES).flatMap((place) => placeOf(db, place) ?? []),
    }))
    return found.toSorted(byEnds).slice(0, limit)
  })
}

function byEnds(a: Link, b: Link): number {
  const [first, second] = [a, b].map(({ subject, predicate, object }) => [predicate, subject, object].join('#'))
  return (first ?? '') < (second ?? '') ? -1 : 1
}

interface FoundLink extends NodeLink {
  readonly places: readonly Place[]
}

interface Place {
  readonly passage: number
  readonly part: number
  readonly start: number
  readonly stop: number
}

/** A name that very many texts have is none; so many are counted. */
const MOST_COUNTED = 1_000_000

function readerOf(db: DatabaseSync, texts: number) {
  const borne = borneBy(db)
  const use = db.prepare(
    `SELECT count(*) AS met, total(capital) AS capital FROM (SELECT capital FROM mentions WHERE name = ? LIMIT ${MOST_COUNTED})`,
  )
  const inTexts = db.prepare('SELECT * FROM mentions WHERE passage BETWEEN ? AND ? ORDER BY passage, start')
  const ofName = db.prepare('SELECT * FROM mentions WHERE name = ? ORDER BY passage')
  const names = db.prepare('SELECT name FROM named WHERE node = ? ORDER BY name')
  const linked = (name: number) => {
    const { nodes, written } = borne(name)
    const { met, capital } = use.get(name) ?? {}
    const small = Number(met) - Number(capital)
    return { nodes, links: nameLinks({ written, bearers: nodes.length, capital: Number(capital), small }, texts) }
  }
  const isTaken = (links: ReturnType<typeof nameLinks>, { capital }: Row) =>
    links === 'all' || (links === 'capital' && capital === 1)
  return {
    out(src: number): readonly FoundLink[] {
      const found = gather()
      for (const row of inTexts.all(...rangeOf(src))) {
        const { nodes, links } = linked(Number(row.name))
        if (!isTaken(links, row)) continue
        for (const dst of nodes) found.add({ src, dst, sure: nodes.length === 1 }, placeIn(row))
      }
      return found.links()
    },
    in(dst: number): readonly FoundLink[] {
      const found = gather()
      for (const { name } of names.all(dst)) {
        const { nodes, links } = linked(Number(name))
        const rows = links === 'none' ? [] : ofName.all(Number(name)).filter((row) => isTaken(links, row))
        for (const row of rows) {
          const src = Math.floor(Number(row.passage) / PASSAGE_SPAN)
          found.add({ src, dst, sure: nodes.length === 1 }, placeIn(row))
        }
      }
      return found.links()
    },
  }
}

type Row = Readonly<Record<string, unknown>>

function placeIn(row: Row): Place {
  return { passage: Number(row.passage), part: Number(row.part), start: Number(row.start), stop: Number(row.stop) }
}

/** Edges by their ends, each with its places. */
function gather() {
  const found = new Map<string, NodeLink & { readonly places: Place[] }>()
  return {
    add({ src, dst, sure }: NodeLink, place: Place): void {
      const key = `${src} ${dst} ${sure}`
      const before = found.get(key)
      if (before === undefined) found.set(key, { src, dst, sure, places: [place] })
      else before.places.push(place)
    },
    links: (): readonly FoundLink[] => [...found.values()],
  }
}

/** Bytes from the start of the body, the snippet, or what is stated. */
function placeOf(db: DatabaseSync, { passage, part, start, stop }: Place): LinkPlace | undefined {
  const row = db.prepare('SELECT text, literals FROM passages WHERE id = ?').get(passage)
  if (row === undefined) return undefined
  const k = passage % PASSAGE_SPAN
  const literal = readLiterals(row.literals)[part - 1]
  const text = literal?.value ?? String(row.text)
  const before = k === 0 ? 0 : bytesBefore(db, passage)
  const first = before + Buffer.byteLength(text.slice(0, start))
  const bytes = { start: first, end: first + Buffer.byteLength(text.slice(start, stop)) }
  return { in: k > 0 ? 'body' : (literal?.predicate ?? 'snippet'), ...bytes }
}

/** The passages of a body together are the body. */
function bytesBefore(db: DatabaseSync, passage: number): number {
  const first = passage - (passage % PASSAGE_SPAN) + 1
  const row = db
    .prepare('SELECT total(octet_length(text)) AS bytes FROM passages WHERE id >= ? AND id < ?')
    .get(first, passage)
  return Number(row?.bytes ?? 0)
}
