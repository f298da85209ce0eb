import { Agent, request } from 'node:http'
import type { Shape } from '../shapes.ts'
import type { Call, Served } from './engine.ts'
import type { Engine } from './engine-process.ts'

/** How much of a shape is run by how many clients in one round. */
export interface Load {
  readonly shape: Shape
  readonly clients: number
  readonly runs: number
}

export interface Round {
  readonly seconds: number
  readonly latencies: readonly number[]
  readonly cpu_ms: number | undefined
  /** How long the answer to a start alone took. */
  readonly starts: readonly number[]
  /** Runs begun, each of which has ended as it must. */
  readonly runs: number
}

/** An answer that says that a run did not end as it must. */
export class WrongRun extends Error {}
export class TooSlow extends Error {}

const ANSWER_MS = 60_000
const agent = new Agent({ keepAlive: true, maxSockets: 100 })
let requests = 0

/** Runs that are waited for in one request, then starts that are followed by a wait, by the same clients. */
export async function measureRound({ served, cpuMs }: Engine, { shape, clients, runs }: Load): Promise<Round> {
  const cpu = cpuMs()
  const began = performance.now()
  const latencies = await inTurn(runs, clients, () => timed(() => ask(served.run, shape)))
  const seconds = (performance.now() - began) / 1_000
  const cpu_ms = cpu === undefined ? undefined : (cpuMs() ?? cpu) - cpu
  const few = Math.floor(runs / 3)
  const starts = await measureStarts(served, shape, clients, clients === 1 ? few : Math.max(few, clients))
  return { seconds, latencies, cpu_ms, starts, runs: runs + starts.length }
}

async function measureStarts({ start, end }: Served, shape: Shape, clients: number, runs: number) {
  if (start === undefined || end === undefined) return []
  return inTurn(runs, clients, async () => {
    let id = ''
    const ms = await timed(async () => {
      const answer: unknown = JSON.parse(await ask(start, shape))
      id = String(Object.entries(answer ?? {}).find(([key]) => key === start.id)?.[1])
    })
    await ask(end, shape, id)
    return ms
  })
}

export async function keptRuns({ served }: Engine, shape: Shape): Promise<number> {
  return Number(JSON.parse(await ask(served.kept, shape)).runs)
}

async function inTurn(runs: number, clients: number, one: () => Promise<number>): Promise<readonly number[]> {
  const all: number[] = []
  let left = runs
  const client = async () => {
    while (left > 0) {
      left -= 1
      all.push(await one())
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return all
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function ask({ method, url, headers = {}, body, must }: Call, shape: Shape, id = ''): Promise<string> {
  requests += 1
  const values = { shape: shape.name, blocks: String(shape.n), id, n: `${process.pid}-${requests}` }
  const fill = (text: string) =>
    Object.entries(values).reduce((all, [key, value]) => all.replace(`{${key}}`, value), text)
  const filled = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, fill(value)]))
  const { status, text } = await send(method, fill(url), filled, body === undefined ? undefined : fill(body))
  if (status < 300 && text.includes(fill(must))) return text
  throw new WrongRun(`${method} ${fill(url)} answered ${status} without ${fill(must)}: ${text.slice(0, 300)}`)
}

function send(method: string, url: string, headers: object, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers: { ...headers } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      answer.on('error', reject)
    })
    sent.setTimeout(ANSWER_MS, () => sent.destroy(new TooSlow(`${url} did not answer in ${ANSWER_MS / 1_000} s`)))
    sent.on('error', reject)
    sent.end(body)
  })
}
