import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Target } from '../../../clients/cli/server/api.ts'
import { followEvents } from '../../../clients/cli/server/event-stream.ts'
import { Refused } from '../../../clients/cli/terminal/refused.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A server that gives one answer a connection, in order; the last one again and again. */
async function serve(...answers: Answer[]): Promise<{ target: Target; cursors: unknown[] }> {
  const cursors: unknown[] = []
  server = createServer((request, response) => {
    cursors.push(request.headers['last-event-id'])
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(response, request)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { target: { url: `http://127.0.0.1:${port}`, named: true }, cursors }
}

const message = (seq: number, type = 'block:ready') =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type, at: '2026-01-01T00:00:00.000Z', data: {} })}\n\n`

const problem =
  (status: number, code: string): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ type: 'urn:x', title: 't', status, code, detail: `It is ${code}.` }))
  }

async function seqs(target: Target, since = 0): Promise<number[]> {
  const read: number[] = []
  for await (const { seq } of followEvents(target, { runId: 'run_x', since })) read.push(seq)
  return read
}

describe('followEvents()', () => {
  test('ends with the event that ends the run', async () => {
    const { target } = await serve((response) => response.end(message(1) + message(2, 'run:completed')))
    expect(await seqs(target)).toEqual([1, 2])
  })

  test('resumes after a connection that breaks in the middle of an event, each event once', async () => {
    const breaks: Answer = (response) => response.write(message(1) + message(2).slice(0, 20), () => response.destroy())
    const restarts = problem(503, 'starting')
    // Repeats what the reader has: a server may.
    const ends: Answer = (response) => response.end(message(1) + message(2) + message(3, 'run:failed'))
    const { target, cursors } = await serve(breaks, restarts, ends)
    expect(await seqs(target)).toEqual([1, 2, 3])
    expect(cursors).toEqual(['0', '1', '1'])
  })

  test('goes on at once where the server ends a stream with the id of the next, however often', async () => {
    const handsOver: Answer = (response) => response.end(': goes on after this id\nid: 1\nretry: 1000\n\n')
    const first: Answer = (response) => response.end(`${message(1)}id: 1\nretry: 1000\n\n`)
    const ends: Answer = (response) => response.end(message(2, 'run:completed'))
    // More often than failures are put up with.
    const { target, cursors } = await serve(first, ...Array.from({ length: 20 }, () => handsOver), ends)
    expect(await seqs(target)).toEqual([1, 2])
    expect(cursors).toEqual(['0', ...Array.from({ length: 21 }, () => '1')])
  })

  test('goes on after a stream that the server ended before the run did', async () => {
    const { target, cursors } = await serve(
      (response) => response.end(message(1)),
      (response) => response.end(message(2, 'run:cancelled')),
    )
    expect(await seqs(target)).toEqual([1, 2])
    expect(cursors).toEqual(['0', '1'])
  })

  test('has nothing to wait for when the run has ended and all is read', async () => {
    const { target } = await serve((response) => response.writeHead(204).end())
    expect(await seqs(target, 9)).toEqual([])
  })

  test('does not try again what the server refuses for good', async () => {
    const { target, cursors } = await serve(problem(404, 'unknown_run'))
    await expect(seqs(target)).rejects.toThrow(Refused)
    expect(cursors).toHaveLength(1)
  })

  test('ends with what its signal was aborted with', async () => {
    const { target } = await serve((response) => void response.write(message(1)))
    const stop = new AbortController()
    const read = async () => {
      for await (const _ of followEvents(target, { runId: 'run_x', signal: stop.signal }))
        stop.abort(new Error('enough'))
    }
    await expect(read()).rejects.toThrow('enough')
  })
})
