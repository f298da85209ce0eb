import type { Usage } from '../measured.ts'
import { memberOf, textOf } from '../member-of.ts'

/** `content` is a text, null, or a list of parts of which the texts count. */
export function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => textOf(memberOf(part, 'text')) ?? '').join('')
}

/** `tool_calls`, or `function_call` of older servers. */
export function hasTools(message: unknown): boolean {
  const calls = memberOf(message, 'tool_calls')
  return (Array.isArray(calls) && calls.length > 0) || Boolean(memberOf(message, 'function_call'))
}

export function usageOf(usage: unknown): Usage {
  return { tokens_in: memberOf(usage, 'prompt_tokens'), tokens_out: memberOf(usage, 'completion_tokens') }
}
