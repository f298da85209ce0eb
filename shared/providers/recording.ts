import * as z from 'zod'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import type { DispatchAnswer, DispatchRequest } from './provider.ts'

const text = z.string()
const count = z.int().min(0)

const AnswerSchema = z.strictObject({
  text,
  tokens_in: count,
  tokens_out: count,
  usd: z.number().min(0).optional(),
  model: text,
  finish_reason: text,
  note: text.optional(),
  /** Tools it wanted called, as it asked for them. */
  calls: z.array(z.strictObject({ id: text, tool: text, arguments: text })).optional(),
})

/** One call of a provider: what was asked, by its hashes, and the answer as it came. */
const RecordedCallSchema = z.strictObject({
  /** Which call of its run: `<lane>/<epoch>/<attempt>/<repair>`, or a judge's own key. */
  at: text,
  provider: text,
  model: text,
  prompt_hash: text,
  params_hash: text,
  /** Absent = there was no system text. */
  system_hash: text.optional(),
  /** Of what followed the prompt; absent = nothing did. What a provider keeps of its own beside a message does not count. */
  conversation_hash: text.optional(),
  /** Of the tools that were offered; absent = none was. */
  tools_hash: text.optional(),
  /** Of names, types and contents of the files that went with the prompt; absent = none did. */
  files_hash: text.optional(),
  answer: AnswerSchema,
})
export type RecordedCall = z.infer<typeof RecordedCallSchema>

/** The calls of an ended run, in the order of its events: what provider `replay` answers from. */
export const RecordingSchema = z.strictObject({
  v: z.literal(1),
  run_id: text,
  dag_name: text,
  dag_hash: text,
  calls: z.array(RecordedCallSchema),
})
export type Recording = z.infer<typeof RecordingSchema>

/** Of a request, what an answer is found by. */
type RecordedRequest = Pick<
  DispatchRequest,
  'system' | 'prompt' | 'model' | 'params' | 'idempotency_key' | 'conversation' | 'tools' | 'files'
>

/** What is asked besides model and prompt, by its hashes; what is not there has none. */
export function askedHashes({
  params,
  system,
  conversation = [],
  tools = [],
  files = [],
}: Omit<RecordedRequest, 'idempotency_key'>) {
  const messages = conversation.map((message) => ({ ...message, opaque: undefined }))
  const contents = files.map(({ name, media_type, bytes }) => [name, media_type, sha256(bytes)])
  return {
    params_hash: sha256(canonicalJson(params)),
    ...(system === undefined ? {} : { system_hash: sha256(system) }),
    ...(messages.length === 0 ? {} : { conversation_hash: sha256(canonicalJson(messages)) }),
    ...(tools.length === 0 ? {} : { tools_hash: sha256(canonicalJson(tools)) }),
    ...(contents.length === 0 ? {} : { files_hash: sha256(canonicalJson(contents)) }),
  }
}

export function recordedCall(provider: string, request: RecordedRequest, answer: DispatchAnswer): RecordedCall {
  const { prompt, model, idempotency_key } = request
  const { text: said, tokens_in, tokens_out, usd, model: answered, finish_reason, note, calls = [] } = answer
  return {
    // The rest of the key is the same in every run of the document.
    at: idempotency_key.replace(/^run_[^/]*\//, ''),
    provider,
    model,
    prompt_hash: sha256(prompt),
    ...askedHashes(request),
    answer: {
      text: said,
      tokens_in: counted(tokens_in),
      tokens_out: counted(tokens_out),
      ...(usd === undefined || !(usd >= 0) ? {} : { usd }),
      model: answered,
      finish_reason,
      ...(note === undefined ? {} : { note }),
      ...(calls.length === 0
        ? {}
        : { calls: calls.map(({ id, tool, arguments: args }) => ({ id, tool, arguments: args })) }),
    },
  }
}

/** What an adapter says is no count is none. */
function counted(amount: number): number {
  return amount > 0 ? Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER) : 0
}

/** Characters of one text that was asked: what is kept for people; the hash beside it is of the whole. */
const MOST_ASKED = 65_536

const AskedSchema = z.strictObject({
  system: z.string().optional(),
  prompt: z.string(),
  /** A text was longer than is kept. */
  cut: z.literal(true).optional(),
})

/** A call as its attempt keeps it: a recorded one, and the words that were asked (absent in what was kept before they were). */
const KeptCallSchema = RecordedCallSchema.extend({ asked: AskedSchema.optional() })
export type RecordedCallWithPrompt = z.infer<typeof KeptCallSchema>

/** What a block's attempt, or a gate's judge, was answered: the object that `raw_ref` of an event names. */
export const RawAnswersSchema = z.strictObject({ v: z.literal(1), calls: z.array(KeptCallSchema).min(1) })

export function recordedCallWithPrompt(
  provider: string,
  request: RecordedRequest,
  answer: DispatchAnswer,
): RecordedCallWithPrompt {
  const { system, prompt } = request
  const isCut = prompt.length > MOST_ASKED || (system ?? '').length > MOST_ASKED
  const asked = {
    ...(system === undefined ? {} : { system: kept(system) }),
    prompt: kept(prompt),
    ...(isCut ? { cut: true as const } : {}),
  }
  return { ...recordedCall(provider, request, answer), asked }
}

/** Without half a character, which no canonical JSON can hold. */
function kept(text: string): string {
  return text.slice(0, MOST_ASKED).toWellFormed()
}
