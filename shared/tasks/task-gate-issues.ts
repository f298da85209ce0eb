import { didYouMean, suggest } from '../dag/suggest.ts'
import { listed, quoted } from '../dag/wording.ts'
import type { Issue } from '../errors.ts'
import { portsOf } from '../gates/answer-check.ts'
import { parseCheck } from '../gates/parse-check.ts'
import type { Settings } from '../settings.ts'
import { TASK_PORTS } from './task-gate.ts'

/** What is wrong between gates, gate types and pipelines of settings whose shape is right; paths as in the file. */
export function taskGateIssues({ gates, pipelines }: Pick<Settings, 'gates' | 'pipelines'>): readonly Issue[] {
  const names = gates.map(({ name }) => name)
  const own = gates.flatMap(({ name, check }, at) => {
    const twice = names.indexOf(name) < at
    const told = twice ? [{ path: `gates.${at}.name`, message: `Two gates have the name ${quoted(name)}` }] : []
    return [...told, ...checkIssues(check, `gates.${at}.check`)]
  })
  return [...own, ...pipelineIssues(pipelines, names)]
}

function checkIssues(check: Settings['gates'][number]['check'], path: string): readonly Issue[] {
  const parsed = parseCheck(check)
  if (!parsed.ok) {
    return parsed.errors.map(({ path: inner, message, hint }) => ({
      path: inner === '' ? path : `${path}.${inner}`,
      message,
      ...(hint === undefined ? {} : { hint }),
    }))
  }
  const { type } = parsed.check
  const reads = portsOf(parsed.check)
  const allowed = `a task has ${listed(TASK_PORTS)}`
  if (reads.length === 0) return [{ path, message: `Gate type "${type}" reads nothing of a task; ${allowed}` }]
  const known: readonly string[] = TASK_PORTS
  return reads
    .filter((port) => !known.includes(port))
    .map((port) => {
      const hint = didYouMean(suggest(port, known))
      return { path, message: `No port ${quoted(port)}; ${allowed}`, ...(hint === undefined ? {} : { hint }) }
    })
}

function pipelineIssues(pipelines: Settings['pipelines'], names: readonly string[]): readonly Issue[] {
  const dags = Object.values(pipelines).map(({ dag }) => dag)
  return Object.entries(pipelines).flatMap(([name, { dag, gates }], at) => {
    const path = `pipelines.${name}`
    const taken = dags.indexOf(dag) < at
    const second = taken ? [{ path: `${path}.dag`, message: `DAG ${quoted(dag)} has a pipeline already` }] : []
    const wrong = gates.flatMap((gate, position) => {
      const place = `${path}.gates.${position}`
      if (gates.indexOf(gate) < position) return [{ path: place, message: `Gate ${quoted(gate)} is named twice` }]
      if (names.includes(gate)) return []
      const hint = didYouMean(suggest(gate, names))
      const message = `No gate ${quoted(gate)}; configured are ${listed(names)}`
      return [{ path: place, message, ...(hint === undefined ? {} : { hint }) }]
    })
    return [...second, ...wrong]
  })
}
