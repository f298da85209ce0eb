import { afterEach, expect, test } from 'vitest'
import type { DispatchAnswer, Provider } from '../../../shared/providers/provider.ts'
import { all } from '../asks/ask-place.ts'
import { ANA, buttonsOf, openSlackPlace, type SlackPlace, wordsOf } from './slack-place.ts'

let open: SlackPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** Calls this tool first, and is done when that has ended. */
function callsOnce(tool: string, args: object): { readonly provider: Provider; readonly told: string[] } {
  const told: string[] = []
  const provider: Provider = {
    async dispatch({ conversation = [], model }): Promise<DispatchAnswer> {
      told.push(...conversation.flatMap((one) => (one.role === 'tool' ? [one.text] : [])))
      const said = { tokens_in: 1, tokens_out: 1, usd: 0, model }
      if (conversation.length > 0) return { ...said, text: 'Done.', finish_reason: 'stop' }
      const calls = [{ id: 'c1', tool, arguments: JSON.stringify(args) }]
      return { ...said, text: '', finish_reason: 'tool_calls', calls }
    },
  }
  return { provider, told }
}

const document = (tools: readonly unknown[]) => ({
  name: 'acting',
  blocks: [
    { id: 'act', outputs: { answer: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'Go.', tools } },
  ],
})

test('a call is asked about with its tool and arguments, and allowed by a click', async () => {
  const { provider } = callsOnce('artifact__write', { name: 'a.md', text: 'Hello' })
  open = await openSlackPlace({}, {}, { providers: { probe: provider } })
  const { slack } = open
  const id = await open.start(document([{ use: 'artifact.write', approval: { prompt: 'Write it?', edit: ['text'] } }]))
  const message = await open.message(() => true)
  expect(buttonsOf(message)).toEqual(['sluice_approve', 'sluice_reject', 'sluice_stop', 'sluice_open'])
  const words = wordsOf(message.blocks)
  for (const part of ['Write it?', 'artifact.write', 'call 1 of turn 1', 'a.md', 'Hello', '--edit NAME=VALUE'])
    expect(words).toContain(part)
  await slack.deliver(slack.clickBody(message, 'sluice_approve', ANA))
  expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
})

test('a tool is allowed for the rest of the run where its document lets people', async () => {
  const provider: Provider = {
    async dispatch({ conversation = [], model }): Promise<DispatchAnswer> {
      const said = { tokens_in: 1, tokens_out: 1, usd: 0, model }
      if (conversation.length > 3) return { ...said, text: 'Done.', finish_reason: 'stop' }
      const args = { name: `${conversation.length}.md`, text: 'Hello' }
      const calls = [{ id: 'c1', tool: 'artifact__write', arguments: JSON.stringify(args) }]
      return { ...said, text: '', finish_reason: 'tool_calls', calls }
    },
  }
  open = await openSlackPlace({}, {}, { providers: { probe: provider } })
  const { slack } = open
  const id = await open.start(document([{ use: 'artifact.write', approval: { allow_rest: true } }]))
  const message = await open.message(() => true)
  expect(buttonsOf(message)).toContain('sluice_allow_rest')
  await slack.deliver(slack.clickBody(message, 'sluice_allow_rest', ANA))
  const events = await open.ended(id)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(all(events, 'approval:requested')).toHaveLength(1)
})

test('a call is denied and its agent stopped, with words', async () => {
  const { provider } = callsOnce('artifact__write', { name: 'a.md', text: 'Hello' })
  open = await openSlackPlace({}, {}, { providers: { probe: provider } })
  const { slack } = open
  const id = await open.start(document([{ use: 'artifact.write', approval: true }]))
  const message = await open.message(() => true)
  expect(buttonsOf(message)).not.toContain('sluice_allow_rest')
  await slack.deliver(slack.clickBody(message, 'sluice_stop', ANA))
  const [view] = slack.views
  if (view === undefined) throw new Error('no modal')
  await slack.deliver(slack.submitBody(view, ANA, 'Enough.'))
  const events = await open.ended(id)
  expect(all(events, 'approval:decided').map(({ data }) => data)).toMatchObject([{ decision: 'reject', via: 'slack' }])
  expect(all(events, 'block:failed').at(-1)?.data).toMatchObject({ code: 'stopped_by_person' })
})

test('what an agent asks on its own is answered in words', async () => {
  const { provider, told } = callsOnce('ask_person', { question: 'Which colour?' })
  open = await openSlackPlace({}, {}, { providers: { probe: provider } })
  const { slack } = open
  const id = await open.start(document(['ask_person']))
  const message = await open.message(() => true)
  expect(buttonsOf(message)).toEqual(['sluice_answer', 'sluice_reject', 'sluice_stop', 'sluice_open'])
  await slack.deliver(slack.clickBody(message, 'sluice_answer', ANA))
  const [view] = slack.views
  if (view === undefined) throw new Error('no modal')
  await slack.deliver(slack.submitBody(view, ANA, 'Blue, please.'))
  const events = await open.ended(id)
  expect(all(events, 'approval:decided').map(({ data }) => data)).toMatchObject([{ decision: 'approve', via: 'slack' }])
  expect(told.join()).toContain('Blue, please.')
})
