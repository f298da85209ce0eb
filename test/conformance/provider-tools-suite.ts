import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../../shared/errors.ts'
import type { DispatchRequest, Message, ToolOffer, ToolRequest } from '../../shared/providers/provider.ts'
import { type ModelWire, saysPieces, type Turn } from '../emulators/model-wires.ts'
import type { Asked } from '../emulators/provider-server.ts'
import { type OpenedProvider, SUITE_KEY, SUITE_REQUEST } from './provider-suite.ts'

/** How a protocol differs in what agents need of it. */
export interface ToolWire {
  readonly wire: ModelWire
  /** Arguments are objects on the wire: what is no JSON cannot come. */
  readonly objectArguments?: boolean
  /** Calls have no ids on the wire: results name their tool. */
  readonly noIds?: boolean
  /** It is read whole: no piece comes before the last. */
  readonly whole?: boolean
  /** Nothing has to be handed back. */
  readonly noOpaque?: boolean
  readonly keyless?: boolean
}

export const TOOLS: readonly ToolOffer[] = [
  {
    name: 'find_customer',
    description: 'Finds a customer by mail.',
    input_schema: { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
  },
  {
    name: 'refund',
    description: 'Pays money back.',
    input_schema: { type: 'object', properties: { amount: { type: 'number' } } },
  },
]

const FIND = { id: 'call_a', tool: 'find_customer', arguments: '{"mail":"ana@example.com"}' }
const REFUND = { id: 'call_b', tool: 'refund', arguments: '{"amount":7}' }
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** What a provider promises to agents that call tools (shared/providers/provider.ts). */
export function providerToolsSuite(
  name: string,
  open: (timeout_ms: number) => Promise<OpenedProvider>,
  kind: ToolWire,
): void {
  const { wire } = kind
  describe(`tools of provider: ${name}`, () => {
    let opened: OpenedProvider
    beforeEach(async () => {
      opened = await open(60_000)
    })
    afterEach(() => opened.close())
    const server = () => {
      if (opened.server === undefined) throw new Error('it is said to have a server')
      return opened.server
    }
    const ask = (more: Partial<DispatchRequest> = {}) =>
      opened.provider.dispatch({ ...SUITE_REQUEST, tools: TOOLS, ...more })
    /** Answers this turn to the next request. */
    const told = (turn: Turn, more: Partial<DispatchRequest> = {}) => {
      server().next(saysPieces(wire, turn))
      return ask(more)
    }
    const last = (): Asked['body'] => server().asked.at(-1)?.body ?? {}
    const idOf = (call: ToolRequest, asked: ToolRequest | undefined) =>
      kind.noIds === true ? (asked?.id ?? '') : call.id
    const comparable = (calls: readonly ToolRequest[] = []) =>
      calls.map((call) => [call.tool, JSON.parse(call.arguments)] as const)

    test('are offered with name, description and schema, and a call is handed on beside what is said', async () => {
      const answer = await told({ text: 'Let me look.', calls: [FIND] })
      expect([answer.text, comparable(answer.calls)]).toEqual([
        'Let me look.',
        [['find_customer', { mail: 'ana@example.com' }]],
      ])
      if (kind.noIds !== true) expect(answer.calls?.[0]?.id).toBe('call_a')
      const sent = JSON.stringify(last())
      for (const words of ['find_customer', 'Finds a customer by mail.', '"mail"', '"refund"'])
        expect(sent).toContain(words)
      expect([answer.tokens_in > 0, answer.tokens_out > 0]).toEqual([true, true])
    })

    test('called several at once come in their order, each under an id of its own', async () => {
      const { calls = [] } = await told({ calls: [FIND, REFUND, { ...REFUND, id: 'call_c' }] })
      expect(calls.map(({ tool }) => tool)).toEqual(['find_customer', 'refund', 'refund'])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
      expect(comparable(calls).map(([, args]) => args)).toEqual([
        { mail: 'ana@example.com' },
        { amount: 7 },
        { amount: 7 },
      ])
    })

    test('may not be called at all: an answer without calls is the last', async () => {
      const answer = await told({ text: 'Done.' })
      expect([answer.text, answer.calls]).toEqual(['Done.', undefined])
    })

    test.skipIf(kind.objectArguments)(
      'called with what is no JSON are told as it came, and can be answered',
      async () => {
        const malformed = '{"mail": "ana@exam'
        const { calls = [] } = await told({ calls: [{ ...FIND, arguments: malformed }] })
        expect(calls).toEqual([{ ...FIND, arguments: malformed }])
        const conversation = turnOf(calls, '', ['the arguments are no JSON', true])
        expect((await told({ text: 'Sorry.' }, { conversation })).text).toBe('Sorry.')
        expect(wire.results(last()).map(([, text]) => String(text))).toEqual([expect.stringContaining('no JSON')])
      },
    )

    test('called by a name nobody offered are told as they came', async () => {
      const { calls = [] } = await told({ calls: [{ ...FIND, tool: 'drop_tables' }] })
      expect(calls.map(({ tool }) => tool)).toEqual(['drop_tables'])
    })

    test('are answered in the order of the calls, errors as errors, and the conversation goes on behind them', async () => {
      const first = await told({ text: 'Both.', calls: [FIND, REFUND] })
      const calls = first.calls ?? []
      const conversation: readonly Message[] = [
        { role: 'assistant', text: first.text, calls, ...(first.opaque === undefined ? {} : { opaque: first.opaque }) },
        { role: 'tool', id: idOf(FIND, calls[0]), tool: 'find_customer', text: 'Ana, customer 12', is_error: false },
        { role: 'tool', id: idOf(REFUND, calls[1]), tool: 'refund', text: 'refused: above 5', is_error: true },
        { role: 'assistant', text: 'It was refused.', calls: [] },
        { role: 'user', text: 'Then say so in one word.' },
      ]
      expect((await told({ text: 'No.' }, { conversation })).text).toBe('No.')
      const named = kind.noIds === true ? ['find_customer', 'refund'] : ['call_a', 'call_b']
      expect(wire.results(last()).map(([call, text]) => [call, String(text)])).toEqual([
        [named[0], expect.stringContaining('Ana, customer 12')],
        [named[1], expect.stringContaining('refused: above 5')],
      ])
      const sent = JSON.stringify(last())
      const order = [
        'Plan 3 steps',
        'Both.',
        'Ana, customer 12',
        'refused: above 5',
        'It was refused.',
        'in one word',
      ].map((words) => sent.indexOf(words))
      expect(order.every((at) => at > 0)).toBe(true)
      expect(order).toEqual(order.toSorted((a, b) => a - b))
    })

    test.skipIf(kind.noOpaque)(
      'what the provider wants to see again is handed back to it, through JSON, and to nobody else',
      async () => {
        const {
          text,
          calls = [],
          opaque,
        } = await told({
          text: 'Looking.',
          reasoning: { text: 'Who is it?', signature: 'c2lnbmF0dXJlLTE=' },
          calls: [FIND],
        })
        expect(opaque).toBeDefined()
        const back = JSON.parse(JSON.stringify(opaque))
        await told({ text: 'Done.' }, { conversation: turnOf(calls, text, ['found', false], back) })
        expect(JSON.stringify(last())).toContain('c2lnbmF0dXJlLTE=')
        await told({ text: 'Done.' }, { model: 'm-2', conversation: turnOf(calls, text, ['found', false], back) })
        if (wire.mediaType !== 'application/json') expect(JSON.stringify(last())).not.toContain('c2lnbmF0dXJlLTE=')
      },
    )

    test('go with a form of the answer that is said in words: a schema would keep a model from calling', async () => {
      const output_schema = {
        title: { type: 'string', required: true },
        steps: { type: 'number', required: true },
      } as const
      expect((await told({ calls: [FIND] }, { output_schema })).calls).toHaveLength(1)
      const sent = JSON.stringify(last())
      expect(sent).not.toMatch(/json_schema|responseSchema|responseJsonSchema|"format":\{/)
    })

    test('are not called where none was offered', async () => {
      const failed = await told({ calls: [FIND] }, { tools: [] }).catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(Fault)
      expect(failed).toMatchObject({ code: 'provider_invalid', message: expect.stringContaining('calls a tool') })
    })

    test('files go with the prompt: an image as it is, a text as text', async () => {
      const files = [
        { name: 'scan.png', media_type: 'image/png', bytes: PIXEL },
        { name: 'notes.md', media_type: 'text/markdown', bytes: Buffer.from('# Grüße') },
      ]
      expect((await told({ text: 'A pixel.' }, { files, tools: [] })).text).toBe('A pixel.')
      const sent = JSON.stringify(last())
      expect(sent).toContain(PIXEL.toString('base64').slice(0, 40))
      expect(wire.mediaType === 'application/json' ? sent.includes('notes.md') : sent.includes('# Grüße')).toBe(true)
    })

    test.skipIf(kind.whole)('text is heard in its pieces, the first before the server has sent the last', async () => {
      const heard: string[] = []
      const first = Promise.withResolvers<void>()
      const text = 'It is said slowly, piece by piece, so that somebody can read along.'
      server().next(saysPieces(wire, { text }, { hold: first.promise }))
      const on_text = (piece: string) => {
        heard.push(piece)
        first.resolve()
      }
      const answer = await ask({ on_text, tools: [] })
      expect([answer.text, heard.join(''), heard.length > 1]).toEqual([text, text, true])
    })

    test.skipIf(kind.whole)('a stream cut in the middle of a call is no answer', async () => {
      server().next(
        saysPieces(wire, { calls: [FIND, REFUND] }, { cut: wire.pieces({ calls: [FIND, REFUND] }).length - 3 }),
      )
      const failed = await ask().catch((error: unknown) => error)
      expect(failed).toMatchObject({ name: 'Unavailable', code: 'provider_unavailable' })
    })

    test.skipIf(kind.keyless === true || kind.whole === true)(
      'a key that the server says in pieces, or in arguments, is told to nobody',
      async () => {
        const heard: string[] = []
        const said = `It is ${SUITE_KEY}, I think.`
        const answer = await told(
          { text: said, calls: [{ ...FIND, arguments: JSON.stringify({ mail: SUITE_KEY }) }] },
          { on_text: (piece) => void heard.push(piece) },
        )
        expect([answer.text, heard.join('')]).toEqual(['It is [key], I think.', 'It is [key], I think.'])
        expect(JSON.stringify(answer)).not.toContain('canary')
      },
    )
  })
}

function turnOf(
  calls: readonly ToolRequest[],
  text: string,
  [result, is_error]: readonly [string, boolean],
  opaque?: Message extends infer M ? (M extends { opaque?: infer O } ? O : never) : never,
): readonly Message[] {
  return [
    { role: 'assistant', text, calls, ...(opaque === undefined ? {} : { opaque }) },
    ...calls.map(({ id, tool }) => ({ role: 'tool' as const, id, tool, text: result, is_error })),
  ]
}
