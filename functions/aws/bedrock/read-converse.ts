import type {
  ContentBlock,
  ConverseCommandOutput,
  ConverseStreamOutput,
  TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import { Fault } from '../../../shared/errors.ts'
import { invalidAnswer } from '../../providers/invalid-answer.ts'
import type { Usage } from '../../providers/measured.ts'
import { ANSWER_TOOL } from './converse-input.ts'

/** What a model said, however it came. */
export interface Conversed {
  readonly text: string
  readonly stop_reason: string
  readonly usage: Usage
}

interface Named {
  readonly name: string
}

/** As of other providers: the longest model answers are a few hundred kilobytes. */
const MAX_CHARACTERS = 8 * 1_024 * 1_024

/** An answer in one piece. Fault InvalidInput provider_invalid. */
export function readConverse(remote: Named, { output, stopReason, usage }: ConverseCommandOutput): Conversed {
  const blocks = output?.message?.content
  if (blocks === undefined) throw noUse(remote, 'it has no message. Is its endpoint the one of Bedrock?')
  const tool = blocks.find((block) => block.toolUse?.name === ANSWER_TOOL)?.toolUse
  const text = tool === undefined ? blocks.map(textIn).join('') : JSON.stringify(tool.input ?? {})
  return conversed(remote, { text, tools: blocks.some(({ toolUse }) => toolUse !== undefined), stopReason, usage })
}

function textIn({ text }: ContentBlock): string {
  return text ?? ''
}

/**
 * A stream of events; reasoning and other blocks are left out. One that ends without saying why it stopped was cut: Fault
 * Unavailable provider_unavailable. `heard` is called with each event.
 */
export async function readConverseStream(
  remote: Named,
  stream: AsyncIterable<ConverseStreamOutput> | undefined,
  heard: () => void,
): Promise<Conversed> {
  const gathered: Gathered = { text: [], tool: [], characters: 0, inTool: false, tools: false }
  for await (const event of stream ?? []) {
    heard()
    take(gathered, event)
    if (gathered.characters > MAX_CHARACTERS) {
      throw noUse(
        remote,
        `it is larger than ${MAX_CHARACTERS} characters. Ask for less, or limit it with model_params.`,
      )
    }
  }
  const { text, tool, tools, stopReason, usage } = gathered
  if (stopReason === undefined) throw cut(remote)
  const said = tool.length > 0 ? tool.join('') : text.join('')
  return conversed(remote, { text: said, tools, stopReason, usage })
}

interface Gathered {
  readonly text: string[]
  /** Input of the answer's tool, in pieces of JSON. */
  readonly tool: string[]
  characters: number
  inTool: boolean
  tools: boolean
  stopReason?: string | undefined
  usage?: TokenUsage | undefined
}

function take(gathered: Gathered, event: ConverseStreamOutput): void {
  const started = event.contentBlockStart?.start?.toolUse
  if (event.contentBlockStart !== undefined) {
    gathered.inTool = started?.name === ANSWER_TOOL
    gathered.tools ||= started !== undefined
  }
  const { text = '', toolUse } = event.contentBlockDelta?.delta ?? {}
  const input = gathered.inTool ? (toolUse?.input ?? '') : ''
  if (text !== '') gathered.text.push(text)
  if (input !== '') gathered.tool.push(input)
  gathered.characters += text.length + input.length
  gathered.stopReason = event.messageStop?.stopReason ?? gathered.stopReason
  gathered.usage = event.metadata?.usage ?? gathered.usage
}

interface Said {
  readonly text: string
  readonly tools: boolean
  readonly stopReason: string | undefined
  readonly usage: TokenUsage | undefined
}

function conversed(remote: Named, { text, tools, stopReason = 'unknown', usage }: Said): Conversed {
  if (text === '' && tools) {
    throw noUse(
      remote,
      'it calls a tool that was not offered. Say in the prompt that the answer is text, or use another model.',
    )
  }
  return { text, stop_reason: stopReason, usage: { tokens_in: usage?.inputTokens, tokens_out: usage?.outputTokens } }
}

function noUse({ name }: Named, why: string): Fault {
  return invalidAnswer(name, `Cannot use the answer of provider "${name}": ${why}`)
}

function cut({ name }: Named): Fault {
  const message = `Provider "${name}" broke off in the middle of its answer. It is tried again as the block's retry allows.`
  return new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider: name } })
}
