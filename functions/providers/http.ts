import type { DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { statusFault } from './faults.ts'
import { asString, invalidAnswerFault, measureUsage, memberOf, parseJsonObject } from './model-answers.ts'
import { providerOverHttp, type Remote } from './remote.ts'

/**
 * Any server of one's own: POST {system, prompt, inputs, model, params, output_schema, feedback} to the url as it is
 * configured; it answers {text} or {outputs: {port: value}}, and may add tokens_in, tokens_out, usd, model and
 * finish_reason. Contract: docs/providers.md.
 */
export function http(remote: Remote): Provider {
  return providerOverHttp(remote, async (call, request) => {
    const answer = await call.post(remote.url, bodyOf(request))
    if (answer.status < 200 || answer.status >= 300) throw await statusFault(remote, answer)
    const told = parseJsonObject(remote.name, await answer.body.text())
    const text = answerText(remote, told)
    const model = asString(told.model) ?? request.model
    const { tokens_in, tokens_out } = told
    const used = measureUsage(request, text, { tokens_in, tokens_out }, remote.price(request.model, model))
    const usd = priceIn(told)
    return { text, ...used, ...usd, model, finish_reason: asString(told.finish_reason) ?? 'stop' }
  })
}

function bodyOf({ system, prompt, inputs, model, params, output_schema, feedback }: DispatchRequest) {
  return { ...(system === undefined ? {} : { system }), prompt, inputs, model, params, output_schema, feedback }
}

/** Outputs are read like any answer: as the JSON object that holds the ports. */
function answerText({ name }: Remote, told: Readonly<Record<string, unknown>>): string {
  const outputs = told.outputs
  if (typeof outputs === 'object' && outputs !== null && !Array.isArray(outputs)) return JSON.stringify(outputs)
  const text = asString(memberOf(told, 'text'))
  if (text !== undefined) return text
  const keys = Object.keys(told).slice(0, 12).join(', ') || 'no members'
  throw invalidAnswerFault(
    name,
    `Cannot use the answer of provider "${name}": it has ${keys}, but neither "text" (a string) nor "outputs" (an object).`,
  )
}

function priceIn({ usd }: Readonly<Record<string, unknown>>): { readonly usd?: number } {
  return typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 ? { usd } : {}
}
