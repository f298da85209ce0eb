import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Collection } from './collection.ts'

/** By Cranfield's scale, 1 is a complete answer and 4 of minimum interest; other codes are of no interest. */
const GRADES: Readonly<Record<string, number>> = { '1': 4, '2': 3, '3': 2, '4': 1, '-1': 1 }

/**
 * A collection in the form of the SMART system, as Cranfield's 1,400 abstracts are handed around: a folder with
 * `*.all*` (.I .T .W), `*.qry` and `*qrel*` (query, document, grade; queries numbered by their order).
 */
export function smartCollection(folder: string): Collection {
  const file = (pattern: RegExp) => {
    const name = readdirSync(folder).find((one) => pattern.test(one))
    if (name === undefined) throw new Error(`Cannot read the collection "${folder}": no file is like ${pattern}.`)
    return readFileSync(join(folder, name), 'latin1')
  }
  const relevant = new Map<string, Map<string, number>>()
  for (const line of file(/qrel/).trim().split('\n')) {
    const [query = '', document = '', code = ''] = line.trim().split(/\s+/)
    const grade = GRADES[code] ?? 0
    if (grade > 0) relevant.set(query, (relevant.get(query) ?? new Map()).set(document, grade))
  }
  return {
    name: basename(folder),
    documents: records(file(/\.all/)).map(({ id, title, text }) => ({
      id,
      title,
      // Abstracts repeat their title.
      text: text.startsWith(title) ? text.slice(title.length).trim() : text,
    })),
    queries: records(file(/\.qry$/)).flatMap(({ text }, at) => {
      const judged = relevant.get(String(at + 1))
      return judged === undefined ? [] : [{ text, relevant: judged }]
    }),
  }
}

function records(file: string) {
  return file
    .split(/^\.I /m)
    .slice(1)
    .map((record) => ({ id: record.split(/\s/)[0] ?? '', title: field(record, 'T'), text: field(record, 'W') }))
}

function field(record: string, name: string): string {
  const [, text = ''] =
    new RegExp(`^\\.${name}\\r?\\n([\\s\\S]*?)(?=^\\.[A-Z]\\r?\\s|(?![\\s\\S]))`, 'm').exec(record) ?? []
  return text.replace(/\s+/g, ' ').trim()
}
