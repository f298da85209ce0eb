import { answerFormat } from '../../shared/prompts/answer-format.ts'
import type { DispatchRequest } from '../../shared/provider.ts'
import { answerSchema, asksForObject } from './answer-schema.ts'

/** A chat as Ollama takes it; `schema`: the server knows schemas, else `json` is all it is told of the form. */
export function ollamaBody({ system, prompt, model, params, output_schema }: DispatchRequest, schema: boolean) {
  const object = asksForObject(output_schema)
  const told = [...(system === undefined ? [] : [system]), ...(object ? [answerFormat(output_schema)] : [])].join(
    '\n\n',
  )
  const { think, keep_alive, max_tokens, ...options } = params
  return {
    model,
    messages: [...(told === '' ? [] : [{ role: 'system', content: told }]), { role: 'user', content: prompt }],
    stream: true,
    ...(object ? { format: schema ? answerSchema(output_schema).schema : 'json' } : {}),
    ...(think === undefined ? {} : { think }),
    ...(keep_alive === undefined ? {} : { keep_alive }),
    options: { ...(max_tokens === undefined ? {} : { num_predict: max_tokens }), ...options },
  }
}

/** Whether a refusal is of the form that was asked for. */
export function isAboutFormat({ output_schema }: DispatchRequest, told: string | undefined): boolean {
  return asksForObject(output_schema) && /format/i.test(told ?? '')
}
