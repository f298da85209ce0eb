import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import * as z from 'zod'
import type { Message, ToolRequest } from '../../../shared/providers/provider.ts'
import type { Json } from '../../../shared/text/json.ts'

/** What a model said, in its order: texts, its reasoning, calls of tools; each with what its provider adds to it. */
export type SaidPart =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string; readonly meta?: SharedV4ProviderMetadata }
  | { readonly kind: 'call'; readonly call: ToolRequest; readonly meta?: SharedV4ProviderMetadata }

const MetaSchema = z.record(z.string(), z.record(z.string(), z.json()))

/** A text is kept as its length, a call as its id: both stand in the message. */
const OpaqueSchema = z.strictObject({
  by: z.string(),
  parts: z.array(
    z.union([
      z.strictObject({ text: z.int().min(0), meta: MetaSchema.optional() }),
      z.strictObject({ reasoning: z.string(), meta: MetaSchema.optional() }),
      z.strictObject({ call: z.string(), meta: MetaSchema.optional() }),
    ]),
  ),
})

/** What of an answer the same model wants to see again; undefined = nothing that its message has not. */
export function makeOpaque(parts: readonly SaidPart[], by: string): Json | undefined {
  if (parts.every((part) => part.meta === undefined && part.kind !== 'reasoning')) return undefined
  return {
    by,
    parts: parts.map((part) => ({
      ...(part.kind === 'call'
        ? { call: part.call.id }
        : part.kind === 'text'
          ? { text: part.text.length }
          : { reasoning: part.text }),
      // It came as JSON, or a package made it of that.
      ...(part.meta === undefined ? {} : { meta: JSON.parse(JSON.stringify(part.meta)) as Json }),
    })),
  }
}

/** The parts of a message. What another model left beside it, or what no longer fits its text, is not looked at. */
export function readOpaque(
  { text, calls, opaque }: Extract<Message, { role: 'assistant' }>,
  by: string,
): readonly SaidPart[] {
  const plain = [
    ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
    ...calls.map((call) => ({ kind: 'call' as const, call })),
  ]
  const read = OpaqueSchema.safeParse(opaque)
  if (!read.success || read.data.by !== by) return plain
  const { parts } = read.data
  const lengths = parts.reduce((sum, part) => sum + ('text' in part ? part.text : 0), 0)
  const named = parts.flatMap((part) => ('call' in part ? [part.call] : []))
  if (lengths !== text.length || named.join('\n') !== calls.map(({ id }) => id).join('\n')) return plain
  const left = [...calls]
  let at = 0
  return parts.flatMap((part): readonly SaidPart[] => {
    const meta = part.meta === undefined ? {} : { meta: part.meta }
    if ('reasoning' in part) return [{ kind: 'reasoning', text: part.reasoning, ...meta }]
    if ('text' in part) {
      at += part.text
      return [{ kind: 'text', text: text.slice(at - part.text, at), ...meta }]
    }
    const call = left.shift()
    return call === undefined ? [] : [{ kind: 'call', call, ...meta }]
  })
}
