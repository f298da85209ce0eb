import type { ProviderSettings } from '../providers/settings.ts'
import type { EventData } from '../runs/event.ts'
import type { AgentWork, AttemptWork, ToolWork } from '../runs/run-store.ts'
import { genAiProvider, MOST_CONTENT } from './call-span.ts'
import type { Attributes, Span } from './otlp-spans.ts'

/** What a span may say of work, and who the providers of the settings are. */
export interface WorkSpanOptions {
  readonly providers: Readonly<Record<string, ProviderSettings>>
  /** Arguments and results of tools go along. */
  readonly capture_content: boolean
}

/**
 * The span of an attempt in the words of OpenTelemetry's conventions for generative AI (spans "invoke agent, internal"
 * and "execute tool", status development), where whoever recorded its end said what it was: an agent that calls tools, or
 * a call of one. Its ids, times and attributes of ours stay, so that what hangs below it still does.
 */
export function workSpan(span: Span, work: AttemptWork | undefined, options: WorkSpanOptions): Span {
  if (work === undefined) return span
  const words = work.operation === 'invoke_agent' ? agentWords(work, options) : toolWords(work, options)
  return renamed(span, work.operation, words)
}

/** The same of an attempt that the end of its run cut off: nobody recorded its end, and its beginning says as much. */
export function cutOffSpan(
  span: Span,
  block_id: string,
  { call, items }: Pick<EventData<'block:started'>, 'call' | 'items'>,
): Span {
  if (call !== undefined) {
    const named = { 'gen_ai.tool.name': call.tool, 'gen_ai.tool.type': 'function', 'sluice.tool': call.use }
    return renamed(span, 'execute_tool', { name: call.tool, attributes: named })
  }
  if (items?.turn === undefined) return span
  return renamed(span, 'invoke_agent', { name: block_id, attributes: { 'gen_ai.agent.name': block_id } })
}

function renamed(span: Span, operation: AttemptWork['operation'], { name, attributes }: Words): Span {
  const all = { 'gen_ai.operation.name': operation, ...attributes, ...span.attributes }
  return { ...span, name: `${operation} ${name}`, attributes: all }
}

interface Words {
  readonly name: string
  readonly attributes: Attributes
}

function agentWords(
  { agent, provider, model, answered, output, conversation_id }: AgentWork,
  options: WorkSpanOptions,
): Words {
  return {
    name: agent.name,
    attributes: {
      'gen_ai.provider.name': genAiProvider(options.providers, provider).name,
      'gen_ai.agent.id': agent.id,
      'gen_ai.agent.name': agent.name,
      'gen_ai.agent.version': agent.version,
      'gen_ai.conversation.id': conversation_id,
      'gen_ai.output.type': output,
      'gen_ai.request.model': model,
      'gen_ai.response.finish_reasons': answered === undefined ? undefined : [answered.finish_reason],
      'gen_ai.usage.input_tokens': answered?.tokens_in,
      'gen_ai.usage.output_tokens': answered?.tokens_out,
      'sluice.usage.usd': answered?.usd,
      'sluice.turns': answered?.turns,
      'sluice.provider': provider,
    },
  }
}

function toolWords({ tool, call_id, use, content }: ToolWork, { capture_content }: WorkSpanOptions): Words {
  return {
    name: tool.name,
    attributes: {
      'gen_ai.tool.name': tool.name,
      'gen_ai.tool.description': tool.description.slice(0, MOST_DESCRIPTION),
      // The model makes the call and this side does it: the convention's word for that.
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': call_id,
      'gen_ai.tool.call.arguments': capture_content ? content?.arguments.slice(0, MOST_CONTENT) : undefined,
      'gen_ai.tool.call.result': capture_content ? content?.result?.slice(0, MOST_CONTENT) : undefined,
      'sluice.tool': use,
    },
  }
}

const MOST_DESCRIPTION = 1_000
