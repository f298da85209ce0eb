import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Collection } from './collection.ts'

/**
 * By Cranfield's scale, 1 is a complete answer and 4 of minimum interest. Other codes are no answer, as trec_eval has it:
 * -1, one a query, is the paper its question was asked about.
 */
const GRADES: Readonly<Record<string, number>> = { '1': 4, '2': 3, '3': 2, '4': 1 }

/**
 * A collection in the form of the SMART system, as Cranfield, MED, CISI, CACM are handed around: a folder with `*.all*`
 * (.I .T .W), `*.qry` (.I .W, numbered by their order) and `*qrel*` or `*.rel`.
 */
export function smartCollection(folder: string): Collection {
  const file = (pattern: RegExp) => {
    const name = readdirSync(folder).find((one) => pattern.test(one))
    if (name === undefined) throw new Error(`Cannot read the collection "${folder}": no file is like ${pattern}.`)
    return readFileSync(join(folder, name), 'latin1')
  }
  const relevant = judgements(file(/qrel|\.rel$/i))
  return {
    name: basename(folder),
    kind: 'ad hoc',
    documents: records(file(/\.all/i)).map(({ id, title, text }) => ({
      id,
      title,
      // Abstracts repeat their title.
      text: text.startsWith(title) ? text.slice(title.length).trim() : text,
    })),
    queries: records(file(/\.qry$/i)).flatMap(({ text }, at) => {
      const judged = relevant.get(String(at + 1))
      return judged === undefined ? [] : [{ text, relevant: judged }]
    }),
  }
}

/**
 * Lines of three columns are Cranfield's (query, document, code); of four, TREC's (query, 0, document, grade) where the
 * second is 0 everywhere, else (query, document, and two that say nothing).
 */
function judgements(file: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const lines = file
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const isTrec = lines.every((line) => line.length === 4 && line[1] === '0')
  const relevant = new Map<string, Map<string, number>>()
  for (const [query = '', second = '', third = '', fourth] of lines) {
    const coded = fourth === undefined ? (GRADES[third] ?? 0) : 1
    const [document, grade] = isTrec ? [third, Number(fourth)] : [second, coded]
    const number = String(Number(query))
    if (grade > 0) relevant.set(number, (relevant.get(number) ?? new Map()).set(document, grade))
  }
  return relevant
}

function records(file: string) {
  return file
    .split(/^\.I /m)
    .slice(1)
    .map((record) => ({ id: record.trim().split(/\s/)[0] ?? '', title: field(record, 'T'), text: field(record, 'W') }))
}

function field(record: string, name: string): string {
  const [, text = ''] =
    new RegExp(`^\\.${name}\\s*\\n([\\s\\S]*?)(?=^\\.[A-Z]\\s*$|(?![\\s\\S]))`, 'm').exec(record) ?? []
  return text.replace(/\s+/g, ' ').trim()
}
