import type { Json } from '../../../shared/canonical.ts'
import { answerFormat } from '../../../shared/prompts/answer-format.ts'
import type { DispatchRequest } from '../../../shared/provider.ts'
import { answerSchema, asksForObject } from '../answer-schema.ts'

/** How a server is asked for an object, best first: a schema, any JSON, words alone. */
const FORMATS = ['json_schema', 'json_object', 'none'] as const

/**
 * Request bodies for one server. What it refused once is not asked of it again while this process lives.
 * `first`: how it is asked for an object at the beginning.
 */
export function createBodies(first: (typeof FORMATS)[number] = 'json_schema') {
  const known = { format: FORMATS.indexOf(first), usage: true, stream: true }
  return {
    make(request: DispatchRequest): Readonly<Record<string, unknown>> {
      const { params, model, output_schema } = request
      const object = asksForObject(output_schema)
      return {
        // A response_format of the author stands: theirs is the prompt that goes with it.
        ...(object ? responseFormat(FORMATS[known.format] ?? 'none', output_schema) : {}),
        ...params,
        model,
        messages: messagesOf(request, object),
        stream: known.stream,
        ...(known.stream && known.usage ? { stream_options: { include_usage: true } } : {}),
      }
    },
    /** Drops the feature a refusal speaks of; false = it is about something else, or there is nothing left to drop. */
    giveUp({ output_schema, params }: DispatchRequest, told: string): boolean {
      const formatted = asksForObject(output_schema) && !Object.hasOwn(params, 'response_format')
      if (known.stream && known.usage && /stream_options|include_usage/i.test(told)) {
        known.usage = false
        return true
      }
      if (
        formatted &&
        known.format < FORMATS.length - 1 &&
        /response_format|json_schema|json_object|schema/i.test(told)
      ) {
        known.format += 1
        return true
      }
      if (!known.stream || !/\bstream/i.test(told)) return false
      known.stream = false
      return true
    },
  }
}

function responseFormat(
  format: (typeof FORMATS)[number],
  ports: DispatchRequest['output_schema'],
): Readonly<Record<string, unknown>> {
  if (format === 'none') return {}
  if (format === 'json_object') return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', ...answerSchema(ports) } } }
}

/** The form of the answer is always said in words too: not every server that takes a schema obeys it, JSON mode demands it. */
function messagesOf({ system, prompt, output_schema }: DispatchRequest, object: boolean): readonly Json[] {
  const told = [...(system === undefined ? [] : [system]), ...(object ? [answerFormat(output_schema)] : [])].join(
    '\n\n',
  )
  return [...(told === '' ? [] : [{ role: 'system', content: told }]), { role: 'user', content: prompt }]
}
