import type {
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider'
import type { DispatchAnswer, DispatchRequest } from '../../../shared/providers/provider.ts'
import { refusedFault } from '../faults.ts'
import { brokenOff, invalidAnswerFault, measureUsage, type Usage, uncalled } from '../model-answers.ts'
import { MAX_BODY_BYTES, type Remote, tooLarge } from '../remote.ts'
import { makeOpaque, type SaidPart } from './opaque.ts'
import { isUnfinished, partFault } from './package-faults.ts'

export interface Reading {
  readonly remote: Remote
  readonly request: DispatchRequest
  /** Whose `opaque` it is. */
  readonly own: string
  /** The stream said in its own words that it is over. */
  readonly done: () => boolean
  readonly heard: () => void
}

/** An answer that comes in parts. */
export async function readStream(
  reading: Reading,
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<DispatchAnswer> {
  const gathered = nothingYet()
  for await (const part of stream) {
    reading.heard()
    take(reading, gathered, part)
  }
  return answerOf(reading, gathered)
}

/** The same of one that came whole. */
export function readWhole(reading: Reading, result: LanguageModelV4GenerateResult): DispatchAnswer {
  const { content, finishReason, usage, response, warnings } = result
  const gathered = nothingYet()
  for (const part of wholeParts(content)) take(reading, gathered, part)
  const { id, modelId } = response ?? {}
  const named = { ...(id === undefined ? {} : { id }), ...(modelId === undefined ? {} : { model: modelId }) }
  // All of it is there.
  return answerOf({ ...reading, done: () => true }, { ...gathered, ...named, warnings, finish: finishReason, usage })
}

function wholeParts(content: LanguageModelV4GenerateResult['content']): readonly LanguageModelV4StreamPart[] {
  return content.flatMap((part, at): readonly LanguageModelV4StreamPart[] => {
    const id = String(at)
    if (part.type === 'tool-call') return [part]
    if (part.type !== 'text' && part.type !== 'reasoning') return []
    const { type, text: delta, providerMetadata } = part
    const meta = providerMetadata === undefined ? {} : { providerMetadata }
    return [
      { type: `${type}-start`, id, ...meta },
      { type: `${type}-delta`, id, delta },
    ]
  })
}

/** What was gathered of an answer, before it is judged. */
interface Gathered {
  readonly parts: SaidPart[]
  /** Where in `parts` a text stands that still grows. */
  readonly places: Map<string, number>
  warnings: readonly SharedV4Warning[]
  characters: number
  finish?: LanguageModelV4FinishReason
  usage?: LanguageModelV4Usage
  model?: string
  id?: string
}

function nothingYet(): Gathered {
  return { parts: [], places: new Map(), warnings: [], characters: 0 }
}

/** What is not looked at (sources, files a model made, tools its provider ran) is no answer to a block. */
function take({ remote, request }: Reading, gathered: Gathered, part: LanguageModelV4StreamPart): void {
  switch (part.type) {
    case 'stream-start':
      gathered.warnings = part.warnings
      return
    case 'text-start':
    case 'text-delta':
    case 'text-end':
      grow(remote, gathered, 'text', part)
      if (part.type === 'text-delta' && part.delta !== '') request.on_text?.(part.delta)
      return
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      grow(remote, gathered, 'reasoning', part)
      return
    case 'tool-call':
      called(remote, gathered, part)
      return
    case 'response-metadata':
      gathered.id = part.id ?? gathered.id ?? ''
      gathered.model = part.modelId ?? gathered.model ?? ''
      return
    case 'finish':
      gathered.finish = part.finishReason
      gathered.usage = part.usage
      return
    case 'error':
      // It says so at its end too, without a reason to finish.
      if (!isUnfinished(part.error)) throw partFault(remote, part.error)
      return
    default:
  }
}

interface Growth {
  readonly id: string
  readonly delta?: string
  readonly providerMetadata?: SharedV4ProviderMetadata
}

function grow(
  { name }: Remote,
  gathered: Gathered,
  kind: 'text' | 'reasoning',
  { id, delta = '', providerMetadata }: Growth,
): void {
  const key = `${kind}/${id}`
  const place = gathered.places.get(key) ?? gathered.parts.length
  gathered.places.set(key, place)
  const before = gathered.parts[place]
  const meta = { ...before?.meta, ...providerMetadata }
  const text = (before?.kind === kind ? before.text : '') + delta
  gathered.parts[place] = { kind, text, ...(Object.keys(meta).length === 0 ? {} : { meta }) }
  count(name, gathered, delta)
}

function called(
  { name }: Remote,
  gathered: Gathered,
  part: Extract<LanguageModelV4StreamPart, { readonly type: 'tool-call' }>,
): void {
  if (part.providerExecuted === true) return
  const { toolCallId: id, toolName: tool, input, providerMetadata } = part
  const meta = providerMetadata === undefined ? {} : { meta: providerMetadata }
  gathered.parts.push({ kind: 'call', call: { id, tool, arguments: input }, ...meta })
  count(name, gathered, input)
}

/** Of a package that reads by other means than its fetch, too. */
function count(name: string, gathered: Gathered, piece: string): void {
  gathered.characters += piece.length
  if (gathered.characters > MAX_BODY_BYTES) throw tooLarge(name)
}

/** Judged the same whether it came whole or in pieces. */
function answerOf(reading: Reading, gathered: Gathered): DispatchAnswer {
  const { remote, request, own } = reading
  const { parts, usage, warnings, id } = gathered
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
  const finish_reason = finished(reading, gathered, text)
  const wanted = parts.flatMap((part) => (part.kind === 'call' ? [part.call] : []))
  const offered = (request.tools ?? []).length > 0
  if (!offered && wanted.length > 0 && text === '') throw uncalled(remote.name)
  // The settings' own name where a server gives none.
  const model = gathered.model || request.model
  const said = [text, ...wanted.map((call) => call.arguments)].join('')
  const { note, ...used } = measureUsage(request, said, counted(usage, said), remote.price(request.model, model))
  const notes = [...(note === undefined ? [] : [note]), ...warnings.flatMap(warningText)].join('; ')
  const opaque = offered ? makeOpaque(parts, own) : undefined
  return {
    text,
    ...used,
    model,
    finish_reason,
    ...(offered && wanted.length > 0 ? { calls: wanted } : {}),
    ...(opaque === undefined ? {} : { opaque }),
    ...(id === undefined || id === '' ? {} : { id }),
    ...(notes === '' ? {} : { note: notes }),
  }
}

/** Packages make a zero of what a server did not count: nothing that was sent or said has none. */
function counted(usage: LanguageModelV4Usage | undefined, said: string): Usage {
  const { inputTokens, outputTokens } = usage ?? {}
  const isSilent = said === '' && (outputTokens?.reasoning ?? 0) === 0
  return {
    tokens_in: inputTokens?.total === 0 ? undefined : inputTokens?.total,
    tokens_out: outputTokens?.total === 0 && !isSilent ? undefined : outputTokens?.total,
    tokens_cached: inputTokens?.cacheRead,
  }
}

/** The reason in the server's own word. One that gave none broke off, unless it said that this is the end. */
function finished({ remote, done }: Reading, { finish, parts }: Gathered, text: string): string {
  const { unified = 'interrupted', raw } = finish ?? {}
  if (unified === 'content-filter') {
    const isFilter = raw !== undefined && /filter|safety|block|prohibited|recitation|spii/i.test(raw)
    throw refusedFault(
      remote,
      isFilter || text === '' ? `its content filter stopped the answer (${raw ?? unified})` : text,
    )
  }
  if (raw !== undefined || !UNTOLD.has(unified)) return raw ?? unified
  if (!done()) throw brokenOff(remote.name)
  if (parts.length > 0) return 'unknown'
  const message = `Cannot use the answer of provider "${remote.name}": it says nothing. Is its url the one of its API?`
  throw invalidAnswerFault(remote.name, message)
}

/** What packages say of an end that they were told no reason for. */
const UNTOLD: ReadonlySet<string> = new Set(['interrupted', 'error', 'other'])

function warningText(warning: SharedV4Warning): readonly string[] {
  if (warning.type !== 'unsupported') return []
  return [`${warning.feature} was not sent: the provider's package does not take it`]
}
