import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as z from 'zod'
import type { Collection } from './collection.ts'

const CorpusSchema = z.union([
  z.array(z.object({ title: z.string(), text: z.string() })),
  z.record(z.string(), z.array(z.string())),
])
const QuestionsSchema = z.array(
  z.object({
    question: z.string(),
    /** HotpotQA, 2WikiMultihopQA: title and number of a sentence. */
    supporting_facts: z.array(z.tuple([z.string(), z.int()])).optional(),
    /** MuSiQue. */
    paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string(), idx: z.int() })).optional(),
    question_decomposition: z.array(z.object({ paragraph_support_idx: z.int().nullable() })).optional(),
  }),
)

/**
 * Questions over several passages as HotpotQA, 2WikiMultihopQA and MuSiQue are handed around: `NAME.json` with the
 * questions and `NAME_corpus.json` beside it, a list of {title, text} or title: [sentences].
 */
export function hopsCollection(file: string): Collection {
  const corpusFile = file.replace(/\.json$/, '_corpus.json')
  if (!existsSync(corpusFile)) throw new Error(`Cannot read the collection "${file}": there is no "${corpusFile}".`)
  const corpus = CorpusSchema.parse(JSON.parse(readFileSync(corpusFile, 'utf8')))
  const passages = Array.isArray(corpus)
    ? corpus
    : Object.entries(corpus).map(([title, sentences]) => ({ title, text: sentences.join(' ').replace(/\s+/g, ' ') }))
  const documents = passages.map((passage, at) => ({ id: String(at + 1), ...passage }))
  const byTitle = Map.groupBy(documents, ({ title }) => title)
  const idOf = (title: string, text: string | undefined) => {
    const all = byTitle.get(title) ?? []
    return (all.find((one) => one.text === text) ?? all[0])?.id
  }
  const queries = QuestionsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).map((asked) => {
    const { question, supporting_facts = [], paragraphs = [], question_decomposition = [] } = asked
    const needed = [
      ...supporting_facts.map(([title]) => ({ title, paragraph_text: undefined })),
      ...question_decomposition.flatMap(({ paragraph_support_idx: idx }) =>
        paragraphs.filter((one) => one.idx === idx),
      ),
    ]
    const ids = needed.map(({ title, paragraph_text }) => {
      const id = idOf(title, paragraph_text)
      if (id === undefined)
        throw new Error(`Cannot read the collection "${file}": no passage has the title "${title}".`)
      return id
    })
    return { text: question, relevant: new Map(ids.map((id) => [id, 1])) }
  })
  return { name: basename(file, '.json'), kind: 'hops', documents, queries }
}
