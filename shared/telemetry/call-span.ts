import type { Json } from '../canonical.ts'
import { Fault } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { contentAttributes } from './content-attributes.ts'
import { genAiProvider } from './gen-ai-provider.ts'
import type { Attributes, Span } from './span.ts'
import type { Asked, CallPlace, TracedCall } from './telemetry-port.ts'
import { attemptSpanId, runSpanId, traceIdOf } from './trace-ids.ts'

/** Characters of what a server calls itself and its answer. */
const MOST_TEXT = 200

interface CallSpanOptions {
  readonly providers: Settings['providers']
  readonly span_id: string
  readonly capture_content: boolean
}

/**
 * The span of one call of a provider, below its attempt, else below its run. Attributes: OpenTelemetry's conventions for
 * generative AI (spans "inference" and "embeddings", status development), ours begin with `sluice.`. No word of prompt
 * or answer is in it unless it was asked for, and no message of an error, which may quote either.
 */
export function callSpan(call: TracedCall, { providers, span_id, capture_content }: CallSpanOptions): Span {
  const { at, asked, began, ended, provider } = call
  const { run_id } = at.run
  const { model } = asked.request
  const who = genAiProvider(providers, provider)
  return {
    trace_id: traceIdOf(run_id),
    span_id,
    parent_span_id: at.attempt === undefined ? runSpanId(run_id) : attemptSpanId(run_id, at.attempt),
    name: `${asked.operation} ${model}`,
    kind: who.here ? 'internal' : 'client',
    began,
    ended,
    attributes: {
      'gen_ai.operation.name': asked.operation,
      'gen_ai.provider.name': who.name,
      'gen_ai.request.model': model,
      'server.address': who.address,
      'server.port': who.port,
      ...(asked.operation === 'chat' ? chatAttributes(asked) : embeddingAttributes(asked)),
      ...(capture_content && asked.operation === 'chat' ? contentAttributes(asked) : {}),
      'error.type': asked.answer === undefined ? errorType(call.error) : undefined,
      'sluice.provider': provider,
      ...placeAttributes(at),
    },
    failed: asked.answer === undefined,
    links: [],
  }
}

function chatAttributes({ request: { params }, answer }: Extract<Asked, { operation: 'chat' }>): Attributes {
  const given = REQUEST.map(([name, keys]) => [`gen_ai.request.${name}`, firstNumber(params, keys)] as const)
  return {
    ...Object.fromEntries(given),
    'gen_ai.response.id': answer?.id?.slice(0, MOST_TEXT),
    'gen_ai.response.model': answer?.model.slice(0, MOST_TEXT),
    'gen_ai.response.finish_reasons': answer === undefined ? undefined : [answer.finish_reason.slice(0, MOST_TEXT)],
    'gen_ai.usage.input_tokens': answer?.tokens_in,
    'gen_ai.usage.output_tokens': answer?.tokens_out,
    'sluice.usage.usd': answer?.usd,
  }
}

/** Attribute, and what servers call it. Texts (stop sequences) are content. */
const REQUEST: readonly (readonly [string, readonly string[]])[] = [
  ['temperature', ['temperature']],
  ['top_p', ['top_p']],
  ['top_k', ['top_k']],
  ['max_tokens', ['max_tokens', 'max_completion_tokens', 'num_predict']],
  ['frequency_penalty', ['frequency_penalty']],
  ['presence_penalty', ['presence_penalty']],
  ['seed', ['seed']],
]

function firstNumber(params: Readonly<Record<string, Json>>, keys: readonly string[]): number | undefined {
  return keys.map((key) => params[key]).find((value) => typeof value === 'number')
}

function embeddingAttributes({ request, answer }: Extract<Asked, { operation: 'embeddings' }>): Attributes {
  return {
    'gen_ai.embeddings.dimension.count': answer?.vectors[0]?.length,
    'gen_ai.usage.input_tokens': answer?.tokens_in,
    'sluice.texts': request.texts.length,
    'sluice.usage.usd': answer?.usd,
  }
}

function placeAttributes({ run, block_id, stage, attempt }: CallPlace): Attributes {
  return {
    'sluice.run_id': run.run_id,
    'sluice.tenant': run.tenant,
    'sluice.block': block_id,
    'sluice.stage': stage,
    'sluice.item': attempt?.item,
    'sluice.attempt': attempt?.attempt,
    'sluice.epoch': attempt?.epoch,
  }
}

/** A code of docs/errors.md, else the name of what was thrown. */
function errorType(error: unknown): string {
  if (error instanceof Fault) return error.code
  return error instanceof Error ? error.name : '_OTHER'
}
