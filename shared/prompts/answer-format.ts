import type { DispatchRequest } from '../provider.ts'

/** Tells a model that writes free text to answer with one JSON object; adapters send it after the system text. */
export function answerFormat(ports: DispatchRequest['output_schema']): string {
  const members = Object.entries(ports).map(([port, { type, required, description }]) => {
    const kind = `${type}${required ? '' : ', or null'}`
    return `- ${JSON.stringify(port)} (${kind})${description === undefined ? '' : `: ${description}`}`
  })
  return ['Answer with one JSON object and nothing else, no code fence. Its members:', ...members].join('\n')
}
