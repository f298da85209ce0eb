import { Fault } from '../../shared/errors.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { askedHashes, type RecordedCall, type Recording, RecordingSchema } from '../../shared/providers/recording.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { invalidAnswerFault, parseJsonObject } from './model-answers.ts'

/** Reads a recording where this place keeps it: a file or an object. */
export type ReadRecord = (record: string) => Promise<Uint8Array>

/**
 * Answers from a recorded run, by the hashes of prompt, system text, params, files, tools and conversation, and the model:
 * the answer to the same call of the run if there are several. It costs nothing; tokens are those of the recorded answer. A prompt that was not
 * recorded is Fault Rejected provider_refused, with its hash; a recording that cannot be read InvalidInput provider_invalid.
 */
export function replay(name: string, record: string, readRecord: ReadRecord): Provider {
  let opened: Promise<Recording> | undefined
  return {
    async dispatch(request) {
      request.signal.throwIfAborted()
      opened ??= open(name, record, readRecord)
      const recording = await opened.catch((error: unknown) => {
        // It may be there the next time.
        opened = undefined
        throw error
      })
      return answerOf(find(name, recording, request), recording)
    },
  }
}

async function open(name: string, record: string, readRecord: ReadRecord): Promise<Recording> {
  const body = await readRecord(record).catch((cause: unknown) => {
    const message = `Cannot read the recording of provider "${name}": ${cause instanceof Error ? cause.message : String(cause)}. Make one with sluice run record, and name it in providers.${name}.record.`
    throw new Fault('InvalidInput', 'provider_invalid', message, { cause, facts: { provider: name } })
  })
  const parsed = RecordingSchema.safeParse(parseJsonObject(name, new TextDecoder().decode(body)))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw invalidAnswerFault(
    name,
    `Cannot use the recording of provider "${name}": "${issue?.path.join('.')}": ${issue?.message}. Make it with sluice run record.`,
  )
}

function find(name: string, { run_id, calls }: Recording, request: DispatchRequest): RecordedCall {
  const prompt_hash = sha256(request.prompt)
  const same = calls.filter((call) => call.prompt_hash === prompt_hash)
  const fitting = same.filter((call) => differences(call, request).length === 0)
  const at = request.idempotency_key.replace(/^run_[^/]*\//, '')
  const found = fitting.find((call) => call.at === at) ?? fitting[0]
  if (found !== undefined) return found
  const [near] = same.toSorted((a, b) => differences(a, request).length - differences(b, request).length)
  const why =
    near === undefined
      ? 'no prompt of that hash was recorded'
      : `the prompt was recorded with another ${differences(near, request).join(' and another ')}`
  const message = `Provider "${name}" replays run "${run_id}" and has no answer to prompt ${prompt_hash}: ${why}. Record a run of this document with these inputs.`
  throw new Fault('Rejected', 'provider_refused', message, { facts: { provider: name, prompt_hash } })
}

function differences(call: RecordedCall, request: DispatchRequest): readonly string[] {
  const asked: Partial<RecordedCall> = askedHashes(request)
  return [
    ...(call.model === request.model ? [] : [`model ("${call.model}")`]),
    ...HASHES.flatMap(([hash, words]) => (call[hash] === asked[hash] ? [] : [words])),
  ]
}

const HASHES = [
  ['params_hash', 'set of model_params'],
  ['system_hash', 'system text'],
  ['files_hash', 'set of files'],
  ['tools_hash', 'set of tools'],
  ['conversation_hash', 'conversation after it'],
] as const

function answerOf({ answer }: RecordedCall, { run_id }: Recording): DispatchAnswer {
  const { note: said, usd: _, calls, ...rest } = answer
  const note = `replayed from run ${run_id}${said === undefined ? '' : `; ${said}`}`
  return { ...rest, ...(calls === undefined ? {} : { calls }), usd: 0, note }
}
