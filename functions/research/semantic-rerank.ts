import { Fault } from '../../shared/errors.ts'
import { costMicros, type Estimate } from '../../shared/plan/call-estimate.ts'
import { modelPriceAt } from '../../shared/providers/model-prices.ts'
import type { EmbedAnswer, Provider } from '../../shared/providers/provider.ts'
import { promptTokenBudget } from '../../shared/research/prompt-budget.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { mayHaveUsed, toMicros, toTokenCount } from '../provider-call.ts'
import { isSpendingRefusal } from '../provider-spending.ts'
import type { Found } from './hits.ts'
import { countUsed, meterCall, stageProvider, watchCall } from './metered-call.ts'
import { promptRoomFor, type StageCall } from './stage-call.ts'

/** What words found, ranked by meaning. */
export interface SemanticReranker {
  /** Lexical hits that are looked at. */
  readonly most: number
  /** What the ranking counts in the fusion. */
  readonly weight: number
  /** One at a time: each sets tokens of the run aside. `degraded`: why there is no ranking. */
  rank(text: string, found: readonly Found[]): Promise<Ranking>
}

interface Ranking {
  readonly found: readonly Found[]
  readonly degraded?: string
}

/** Of a text that is embedded: a label and a preview. */
const MOST_CHARACTERS = 1_000
/** One hit alone is not ranked. */
const LEAST_HITS = 2

/** By the embeddings of the settings; undefined = they name none, or the question wants none, and all is as without them. */
export function createSemanticReranker(call: StageCall): SemanticReranker | undefined {
  const { embeddings } = call.world.settings.research
  const weight = call.state.embeddings_weight ?? embeddings?.weight
  if (embeddings === undefined || weight === undefined || weight === 0) return undefined
  return {
    most: embeddings.hits,
    weight,
    async rank(text, found) {
      if (found.length < LEAST_HITS) return { found: [] }
      const question = text.slice(0, MOST_CHARACTERS)
      const { keep, data } = promptTokenBudget('route_search', 0, promptRoomFor(call))
      const looked = fittingRoom(found.slice(0, embeddings.hits), data - estimateTokens(question))
      if (looked.length < LEAST_HITS) return { found: [], degraded: 'hits were not embedded: budget' }
      const texts = [question, ...looked.map(textOf)]
      const reply = await meterCall(call, {
        estimate: () => estimateEmbedding(call, embeddings, texts),
        keep,
        once: (ms) => embedOnce(call, embeddings, texts, ms),
      })
      if (reply.kind === 'skipped') return { found: [], degraded: `hits were not embedded: ${reply.why}` }
      if (reply.kind === 'failed') return { found: [], degraded: `the embedding failed: ${reply.fault.code}` }
      const [wanted = [], ...vectors] = reply.value.vectors
      return { found: rankByMeaning(looked, wanted, vectors) }
    },
  }
}

/** As many as there is room for, best first. */
function fittingRoom(found: readonly Found[], tokens: number): readonly Found[] {
  let room = tokens
  const end = found.findIndex((one) => {
    room -= estimateTokens(textOf(one))
    return room < 0
  })
  return end < 0 ? found : found.slice(0, end)
}

/** The last segment of its id says something where it has neither label nor preview. */
function textOf({ label, evidence }: Found): string {
  const said = [label, evidence.snippet_text].filter((text) => text !== undefined && text.trim() !== '')
  return (said.length > 0 ? said.join('\n') : (evidence.entity_id.split('.').at(-1) ?? '')).slice(0, MOST_CHARACTERS)
}

function rankByMeaning(
  found: readonly Found[],
  wanted: readonly number[],
  vectors: readonly (readonly number[])[],
): readonly Found[] {
  return rankByCosine(wanted, vectors).flatMap(({ at, cosine }) => {
    const one = found[at]
    if (one === undefined) return []
    return [{ ...one, evidence: { ...one.evidence, tier: '1', source: 'embedding', score: cosine } as const }]
  })
}

/** Who is asked for vectors, by the settings. */
interface Embedding {
  readonly provider: string
  readonly model: string
}

/** Asks once and counts what that used: the vectors, or the Fault of a provider; else it is thrown. */
async function embedOnce(
  call: StageCall,
  { provider: name, model }: Embedding,
  texts: readonly string[],
  ms: number,
): Promise<EmbedAnswer | Fault> {
  const provider = stageProvider(call, name)
  if (!hasEmbeddings(provider)) return noEmbeddings(name)
  let signal = new AbortController().signal
  try {
    const answer = await watchCall(call, ms, (aborted) => {
      signal = aborted
      return provider.embed({ texts, model, signal, idempotency_key: embeddingKey(call, texts) })
    })
    countUsed(call, usedBy(call, { provider: name, model }, answer))
    return answer
  } catch (error) {
    if (mayHaveUsed(error, { signal })) countUsed(call, estimateEmbedding(call, { provider: name, model }, texts))
    if (error instanceof Fault && (error.code.startsWith('provider_') || isSpendingRefusal(error))) return error
    throw error
  }
}

function hasEmbeddings(provider: Provider | undefined): provider is Provider & Required<Pick<Provider, 'embed'>> {
  return provider?.embed !== undefined
}

/** What a call may use: four characters a token, and nothing is written. */
function estimateEmbedding(call: StageCall, asked: Embedding, texts: readonly string[]): Estimate {
  const tokens_in = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
  return withPrice(call, asked, tokens_in)
}

/** Of one text. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}

/** Under a cap no answer is free because its server did not count: what the table makes of the tokens stands for it. */
function usedBy(call: StageCall, asked: Embedding, { tokens_in, usd }: EmbedAnswer): Estimate {
  const tokens = toTokenCount(tokens_in)
  return usd === undefined
    ? withPrice(call, asked, tokens)
    : { tokens_in: tokens, tokens_out: 0, usd_micros: toMicros(usd) }
}

function withPrice({ world }: StageCall, { provider, model }: Embedding, tokens_in: number): Estimate {
  const usd_micros = costMicros({ tokens_in, tokens_out: 0 }, modelPriceAt(world.settings, provider, model))
  return { tokens_in, tokens_out: 0, ...(usd_micros === undefined ? {} : { usd_micros }) }
}

/** As a model call's, and another for what else is asked in one step. */
function embeddingKey({ run, lane, step }: StageCall, texts: readonly string[]): string {
  return `${run.run_id}/${lane}/0/${step}/embed-${sha256(texts.join('\n')).slice(0, 16)}`
}

function noEmbeddings(name: string): Fault {
  const message = `Cannot ask provider "${name}" for embeddings: it is not configured, or its type has none. Set research.embeddings in sluice.yaml.`
  return new Fault('InvalidInput', 'provider_invalid', message)
}

/** What a vector is near to. */
interface Near {
  /** Its place in the list. */
  readonly at: number
  /** -1 to 1; 0 where one of the two says nothing. */
  readonly cosine: number
}

/** The vectors by how near they are to one, nearest first; ties in the order they came. All are of one length. */
export function rankByCosine(wanted: readonly number[], vectors: readonly (readonly number[])[]): readonly Near[] {
  const near = vectors.map((vector, at) => ({ at, cosine: cosine(wanted, vector) }))
  return near.toSorted((a, b) => b.cosine - a.cosine || a.at - b.at)
}

/** Scaled before they are multiplied, so that no square leaves the range of numbers. */
function cosine(one: readonly number[], other: readonly number[]): number {
  const [oneMost, otherMost] = [largest(one), largest(other)]
  if (oneMost === 0 || otherMost === 0) return 0
  let product = 0
  let oneSquares = 0
  let otherSquares = 0
  for (let i = 0; i < one.length; i += 1) {
    const a = (one[i] ?? 0) / oneMost
    const b = (other[i] ?? 0) / otherMost
    product += a * b
    oneSquares += a * a
    otherSquares += b * b
  }
  return Math.min(1, Math.max(-1, product / Math.sqrt(oneSquares * otherSquares)))
}

function largest(vector: readonly number[]): number {
  return vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
}
