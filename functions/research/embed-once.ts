import { sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import { priceAt } from '../../shared/price-at.ts'
import type { EmbedAnswer, Provider } from '../../shared/provider.ts'
import { costMicros, type Estimate } from '../../shared/runs/estimate-call.ts'
import { mayHaveUsed } from '../blocks/charged-answer.ts'
import { wholeMicros, wholeTokens } from '../blocks/whole-amounts.ts'
import { countUsed } from './count-used.ts'
import type { StageCall } from './stage-call.ts'
import { stageProvider } from './stage-provider.ts'
import { watchCall } from './watch-call.ts'

/** Who is asked for vectors, by the settings. */
export interface Embedding {
  readonly provider: string
  readonly model: string
}

/** Asks once and counts what that used: the vectors, or the Fault of a provider; else it is thrown. */
export async function embedOnce(
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
      return provider.embed({ texts, model, signal, idempotency_key: keyOf(call, texts) })
    })
    countUsed(call, usedBy(call, { provider: name, model }, answer))
    return answer
  } catch (error) {
    if (mayHaveUsed(error, { signal })) countUsed(call, estimateEmbedding(call, { provider: name, model }, texts))
    if (error instanceof Fault && error.code.startsWith('provider_')) return error
    throw error
  }
}

function hasEmbeddings(provider: Provider | undefined): provider is Provider & Required<Pick<Provider, 'embed'>> {
  return provider?.embed !== undefined
}

/** What a call may use: four characters a token, and nothing is written. */
export function estimateEmbedding(call: StageCall, asked: Embedding, texts: readonly string[]): Estimate {
  const tokens_in = texts.reduce((sum, text) => sum + tokensOf(text), 0)
  return withPrice(call, asked, tokens_in)
}

/** Of one text. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4)
}

/** Under a cap no answer is free because its server did not count: what the table makes of the tokens stands for it. */
function usedBy(call: StageCall, asked: Embedding, { tokens_in, usd }: EmbedAnswer): Estimate {
  const tokens = wholeTokens(tokens_in)
  return usd === undefined
    ? withPrice(call, asked, tokens)
    : { tokens_in: tokens, tokens_out: 0, usd_micros: wholeMicros(usd) }
}

function withPrice({ world }: StageCall, { provider, model }: Embedding, tokens_in: number): Estimate {
  const usd_micros = costMicros({ tokens_in, tokens_out: 0 }, priceAt(world.settings, provider, model))
  return { tokens_in, tokens_out: 0, ...(usd_micros === undefined ? {} : { usd_micros }) }
}

/** As a model call's, and another for what else is asked in one step. */
function keyOf({ run, lane, step }: StageCall, texts: readonly string[]): string {
  return `${run.run_id}/${lane}/0/${step}/embed-${sha256(texts.join('\n')).slice(0, 16)}`
}

function noEmbeddings(name: string): Fault {
  const message = `Cannot ask provider "${name}" for embeddings: it is not configured, or its type has none. Set research.embeddings in sluice.yaml.`
  return new Fault('InvalidInput', 'provider_invalid', message)
}
