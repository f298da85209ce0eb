import type { Attributes } from './span.ts'
import type { Asked } from './telemetry-port.ts'

/** Characters of one text: collectors refuse requests of some megabytes whole. */
const MOST_TEXT = 32_768

/**
 * What was asked and answered, in the convention's form (JSON of messages of parts). Only for who asked for it:
 * prompts hold whatever runs work with.
 */
export function contentAttributes({ request, answer }: Extract<Asked, { operation: 'chat' }>): Attributes {
  const { system, prompt } = request
  return {
    'gen_ai.system_instructions': system === undefined ? undefined : JSON.stringify([part(system)]),
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [part(prompt)] }]),
    'gen_ai.output.messages':
      answer === undefined
        ? undefined
        : JSON.stringify([{ role: 'assistant', parts: [part(answer.text)], finish_reason: answer.finish_reason }]),
  }
}

function part(text: string) {
  return { type: 'text', content: text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}[cut]` : text }
}
