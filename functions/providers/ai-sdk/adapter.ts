import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../../shared/providers/provider.ts'
import { failureFault } from '../faults.ts'
import { answerSchema, refuseReserved } from '../model-answers.ts'
import { type HttpCall, providerOverHttp, type Remote } from '../remote.ts'
import { asksForJson, callOptions } from './call-options.ts'
import type { AnswerForm, ModelPackage, Ways } from './model-package.ts'
import { packageFault } from './package-faults.ts'
import { AnsweredWhole, FormRefused, openPackageFetch, type PackageFetch } from './package-fetch.ts'
import { type Reading, readStream, readWhole } from './read-answer.ts'

/**
 * A provider whose server is spoken to by a package with the AI SDK's language model interface (docs/adr/0076). The answer is
 * read as a stream where the server sends one. What it refuses of the form is given up, and it is asked again within the same
 * dispatch; that is remembered while this process lives.
 */
export function aiSdkProvider(remote: Remote, opened: ModelPackage): Provider {
  const known: Known = { form: 0, stream: true, usage: true }
  return providerOverHttp(remote, async (call, given) => {
    refuseReserved(remote.name, given, RESERVED)
    const { request, headers } = opened.prepare?.(remote, given) ?? { request: given, headers: {} }
    return untilAccepted({ remote, opened, call, request, headers, steps: { made: 0 } }, known)
  })
}

/** Each refusal gives one feature up, so this ends. */
async function untilAccepted(dialogue: Dialogue, known: Known): Promise<DispatchAnswer> {
  const { remote, opened, request } = dialogue
  for (;;) {
    try {
      return await ask(dialogue, { ...known, form: formOf(opened, known) })
    } catch (error) {
      if (!(error instanceof FormRefused)) throw error
      if (!giveUp(opened, known, request, error.told ?? '')) throw failureFault(remote, error)
    }
  }
}

/** Members of requests that packages write: a document that sets them would be answered in a form nobody reads. */
const RESERVED = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'tools',
  'functions',
  'input',
  'contents',
  'system',
]

/** What its server takes; `form` counts what was given up. */
interface Known {
  form: number
  stream: boolean
  usage: boolean
}

function formOf({ forms }: ModelPackage, { form }: Known): AnswerForm {
  return forms[form] ?? 'words'
}

/** Drops the feature a refusal speaks of; false = it is about something else, or there is nothing left to drop. */
function giveUp({ forms }: ModelPackage, known: Known, request: DispatchRequest, told: string): boolean {
  if (known.stream && known.usage && /stream_options|include_usage/i.test(told)) {
    known.usage = false
    return true
  }
  const isOfForm = /response_?format|json_schema|json_object|schema|output_config|text\.format/i.test(told)
  if (isOfForm && asksForJson(request) && known.form < forms.length - 1) {
    known.form += 1
    return true
  }
  if (!known.stream || !/\bstream/i.test(told)) return false
  known.stream = false
  return true
}

interface Dialogue {
  readonly remote: Remote
  readonly opened: ModelPackage
  readonly call: HttpCall
  readonly request: DispatchRequest
  readonly headers: Readonly<Record<string, string>>
  /** Requests made for this dispatch: each goes under a key of its own. */
  readonly steps: { made: number }
}

async function ask(dialogue: Dialogue, ways: Ways): Promise<DispatchAnswer> {
  const { remote, opened, call, request, steps } = dialogue
  const way = openPackageFetch({
    remote,
    call,
    isStream: opened.isStream,
    wantsStream: ways.stream,
    step: () => steps.made++,
  })
  try {
    const own = `${remote.name}/${request.model}`
    const options = { ...callOptions(request, opened, ways, own), abortSignal: call.signal }
    const reading = { remote, request, own, done: way.done, heard: call.heard }
    const model = await openModel(dialogue, ways, way.fetch)
    if (!ways.stream) return readWhole(reading, await model.doGenerate(options))
    return await streamed(dialogue, { ways, way, model, options, reading })
  } catch (error) {
    // What its fetch met is the reason, whatever the package made of it.
    const met = way.failure() ?? error
    throw met instanceof FormRefused ? met : packageFault(remote, met, way.came())
  }
}

interface Asking {
  readonly ways: Ways
  readonly way: PackageFetch
  readonly model: LanguageModelV4
  readonly options: LanguageModelV4CallOptions
  readonly reading: Reading
}

async function streamed(dialogue: Dialogue, { ways, way, model, options, reading }: Asking): Promise<DispatchAnswer> {
  try {
    const { stream } = await model.doStream(options)
    return await readStream(reading, stream)
  } catch (error) {
    const met = way.failure()
    if (!(met instanceof AnsweredWhole)) throw error
    // It answered already: nobody is asked a second time.
    way.settled()
    const again = await openModel(dialogue, { ...ways, stream: false }, async () => met.answer)
    return readWhole(reading, await again.doGenerate(options))
  }
}

async function openModel(
  { remote, opened, call, request, headers }: Dialogue,
  ways: Ways,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModelV4> {
  const { strict } = answerSchema(request.output_schema)
  const { model, params } = request
  const { key: apiKey = 'none' } = call
  return opened.open({ remote, model, params, headers, strict, ways, fetch, apiKey, baseURL: baseUrlOf(remote) })
}

/** Packages put their paths behind it; its query is added by their fetch. */
function baseUrlOf({ url }: Remote): string {
  if (url === '') return ''
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}
