import type { EmbedAnswer, EmbedRequest } from '../../shared/providers/provider.ts'
import { statusFault } from './faults.ts'
import { invalidAnswerFault, measureUsage, parseJsonObject } from './model-answers.ts'
import { exchange, type HttpCall, pathAddress, type Remote } from './remote.ts'

/** How a server is asked for vectors. */
export interface EmbedDialect {
  readonly path: string
  body(model: string, texts: readonly string[]): object
  /** The list of vectors in an answer, whatever it is, in the order of the texts. */
  vectors(told: Told, remote: Remote): unknown
  /** What was counted, if anything. */
  tokens(told: Told): unknown
}

type Told = Readonly<Record<string, unknown>>

/** Texts of one request: 64 vectors of 4,096 numbers are within what is read of an answer. */
const TEXTS_AT_ONCE = 64
/** Numbers of a vector; the longest that are sold have 4,096. */
const MOST_NUMBERS = 16_384

/**
 * Vectors for texts, in requests of so many, one after the other. What is not one vector a text, all of one length and
 * of finite numbers, is Fault InvalidInput provider_invalid: a list that is one short would rank every text by another's
 * meaning.
 */
export function embedOverHttp(remote: Remote, request: EmbedRequest, dialect: EmbedDialect): Promise<EmbedAnswer> {
  return exchange(remote, request, async (call) => {
    const vectors: (readonly number[])[] = []
    let tokens_in = 0
    let usd: number | undefined = 0
    for (let at = 0; at < request.texts.length; at += TEXTS_AT_ONCE) {
      const texts = request.texts.slice(at, at + TEXTS_AT_ONCE)
      const told = await asked(call, remote, { dialect, model: request.model, texts, step: at / TEXTS_AT_ONCE })
      vectors.push(...readVectors(remote.name, dialect.vectors(told, remote), texts.length))
      // Nothing is written, so nothing is counted as an answer.
      const usage = { tokens_in: dialect.tokens(told), tokens_out: 0 }
      const used = measureUsage({ prompt: texts.join('') }, '', usage, remote.price(request.model))
      tokens_in += used.tokens_in
      usd = usd === undefined || used.usd === undefined ? undefined : usd + used.usd
    }
    if (new Set(vectors.map(({ length }) => length)).size > 1) throw noUse(remote.name, 'its vectors differ in length')
    return { vectors, tokens_in, ...(usd === undefined ? {} : { usd }) }
  })
}

interface Part {
  readonly dialect: EmbedDialect
  readonly model: string
  readonly texts: readonly string[]
  readonly step: number
}

async function asked(call: HttpCall, remote: Remote, { dialect, model, texts, step }: Part): Promise<Told> {
  const answer = await call.post(pathAddress(remote, dialect.path), dialect.body(model, texts), step)
  if (answer.status < 200 || answer.status >= 300) throw await statusFault(remote, answer)
  return parseJsonObject(remote.name, await answer.body.text())
}

function readVectors(name: string, told: unknown, count: number): readonly (readonly number[])[] {
  if (!Array.isArray(told)) throw noUse(name, 'it has no list of vectors. Is its model one for embeddings?')
  if (told.length !== count) throw noUse(name, `it has ${told.length} vectors for ${count} texts`)
  for (const vector of told) {
    const why = problemOf(vector)
    if (why !== undefined) throw noUse(name, why)
  }
  return told
}

function problemOf(vector: unknown): string | undefined {
  if (!Array.isArray(vector)) return 'a vector of it is no list'
  if (vector.length === 0 || vector.length > MOST_NUMBERS) {
    return `a vector of it has ${vector.length} numbers; 1 to ${MOST_NUMBERS} are read`
  }
  const wrong = vector.findIndex((number) => typeof number !== 'number' || !Number.isFinite(number))
  return wrong < 0 ? undefined : `number ${wrong} of a vector is ${JSON.stringify(vector[wrong]) ?? 'nothing'}`
}

function noUse(name: string, why: string) {
  return invalidAnswerFault(name, `Cannot use the embeddings of provider "${name}": ${why}.`)
}
