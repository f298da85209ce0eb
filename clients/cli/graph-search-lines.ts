import * as z from 'zod'
import type { Candidate } from '../../shared/research/candidate.ts'
import { AskingLineSchema, answerEachLine, idOfLine } from './asking-line.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'

type Search = (query: string, limit?: number) => Promise<{ readonly hits: readonly Candidate[] }>

/**
 * `sluice graph search --ndjson`: a line {"id","query","limit"?} in, a line {"id","hits":[{"entity_id","score",
 * "source"}]} out, in the same order and at once. A line that cannot be read, or a query the server refuses, is answered
 * with {"id","error":{"code","message"}}; the rest goes on.
 */
export async function graphSearchLines(session: Session, search: Search): Promise<void> {
  await answerEachLine(session, (value, number) => answer(value, number, search))
}

const LineSchema = AskingLineSchema.extend({ query: z.string(), limit: z.int().min(1).max(1_000).optional() })

async function answer(value: unknown, number: number, search: Search) {
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "query": string, "limit"?: 1 to 1000} is needed.`
    return { id: idOfLine(value), error: { code: 'malformed_line', message } }
  }
  const { id, query, limit } = asked.data
  try {
    const { hits } = await search(query, limit)
    return { id, hits: hits.map(({ entity_id, relevance = 0, source }) => ({ entity_id, score: relevance, source })) }
  } catch (error) {
    // A server that is not there answers no other line either.
    if (!(error instanceof Refused) || error.status === undefined) throw error
    return { id, error: { code: error.reason.code, message: error.reason.detail } }
  }
}
