import * as z from 'zod'
import { renderTemplate } from '../../../shared/dag/template.ts'
import type { DispatchRequest, ToolRequest } from '../../../shared/providers/provider.ts'
import type { Json } from '../../../shared/text/json.ts'

const TurnSchema = z.strictObject({
  /** A template over the inputs. */
  text: z.string().default(''),
  calls: z
    .array(z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.custom<Json>()).default({}) }))
    .default([]),
  /** Only where what it was told last has this in it. */
  when_told: z.string().min(1).optional(),
})
const ScriptSchema = z.object({
  turns: z
    .array(z.union([TurnSchema, z.array(TurnSchema).min(1)]))
    .min(1)
    .max(200),
})

interface ScriptTurn {
  readonly text: string
  readonly calls: readonly ToolRequest[]
}

/**
 * Model `script`: says what `params.turns` has for this turn, whatever it is asked; the last turn stands for all that follow. Of a
 * turn that is a list the first is said whose `when_told` was among what it was told since it last spoke.
 */
export function playScript({
  params,
  inputs,
  conversation = [],
}: DispatchRequest): ScriptTurn | { readonly problem: string } {
  const read = ScriptSchema.safeParse(params)
  if (!read.success) return { problem: problemOf(read.error) }
  const { turns } = read.data
  const turn = conversation.filter(({ role }) => role === 'assistant').length
  const next = turns[Math.min(turn, turns.length - 1)] ?? []
  const told = conversation.slice(conversation.findLastIndex(({ role }) => role === 'assistant') + 1)
  const heard = told.map(({ text }) => text).join('\n')
  const said = [next].flat().find(({ when_told = '' }) => heard.includes(when_told))
  if (said === undefined) return { problem: `turn ${turn + 1} of its script has nothing to say to what it was told.` }
  const rendered = renderTemplate(said.text, inputs)
  if (!rendered.ok)
    return { problem: `turn ${turn + 1} of its script reads ${listOf(rendered.missing)}, which has no value.` }
  const calls = said.calls.map(({ tool, arguments: args }, at) => ({
    id: `call_${turn}_${at}`,
    tool,
    arguments: JSON.stringify(args),
  }))
  return { text: rendered.text, calls }
}

function listOf(missing: readonly string[]): string {
  return missing.map((path) => `inputs.${path}`).join(', ')
}

function problemOf({ issues }: z.ZodError): string {
  const [issue] = issues
  const where = ['model_params', ...(issue?.path ?? [])].join('.')
  return `it needs model_params.turns, a list of {text, calls: [{tool, arguments}], when_told}; ${where}: ${issue?.message ?? 'unreadable'}.`
}
