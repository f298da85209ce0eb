import { taskRole } from '../../shared/steps/container-task.ts'
import { stepFunction } from '../../shared/steps/described-step.ts'
import type { RestoredData } from './deploy-settings.ts'

/**
 * The physical names of one deployment. They are computed and not generated, so that the stacks share no
 * exports, a role can name a function of another stack, and a red box in the console is one file search away.
 */
export interface Names {
  readonly stage: string
  /** Of what a stage has one of: its API, its dashboard, its web ACL. */
  readonly whole: string
  readonly table: string
  readonly deadLetters: string
  /** Role names are one space for all regions of an account. */
  readonly machineRole: (region: string) => string
  /** Of a container: what it works as for a tenant, and what ECS begins it with, by eight digits of the hash of its name. */
  readonly taskRole: (task: { readonly tenant: string; readonly name: string }, region: string) => string
  readonly executionRole: (slug: string, region: string) => string
  /** Bucket names are one space for everybody. */
  readonly bucket: (account: string, region: string) => string
  /** Of the bucket with Object Lock. */
  readonly anchors: (account: string, region: string) => string
  /** Of the bucket people drop things into for triggers. */
  readonly drops: (account: string, region: string) => string
  readonly machineLogs: string
  /** Of a function of the catalog. */
  readonly function: (name: string) => string
  /** Of the function of a step of the project. */
  readonly step: (slug: string, tenant?: string) => string
  /** Of a DAG's machine; see slugOf. */
  readonly machine: (slug: string) => string
  /** Of part k of a DAG that is too large for one machine; no slug holds a `_`. */
  readonly machinePart: (slug: string, part: number | '*') => string
  /** What the names of inline machines begin with. */
  readonly inlineMachines: string
  /** Of the alarm that takes the deployed release back. */
  readonly releaseAlarm: string
  /** Alias of the version that runs of a deployed document of this hash are started on. */
  readonly documentAlias: (dag_hash: string) => string
}

/** `restored`: its table, and maybe its bucket, are those that a restore made. */
export function stageNames(stage: string, restored?: RestoredData): Names {
  const prefix = `sluice-${stage}`
  return {
    stage,
    whole: prefix,
    table: restored?.table ?? prefix,
    deadLetters: `${prefix}-dead-letters`,
    machineRole: (region) => `${prefix}-machines-${region}`,
    taskRole: (task, region) => taskRole(stage, region, task),
    executionRole: (slug, region) => `${prefix}-begin-${slug}-${region}`,
    bucket: (account, region) => restored?.bucket ?? `${prefix}-${account}-${region}`,
    anchors: (account, region) => `${prefix}-anchors-${account}-${region}`,
    drops: (account, region) => `${prefix}-drops-${account}-${region}`,
    machineLogs: `/aws/vendedlogs/states/${prefix}`,
    function: (name) => `${prefix}-${name}`,
    step: (slug, tenant) => stepFunction(stage, slug, tenant),
    machine: (slug) => `${prefix}-${slug}`,
    machinePart: (slug, part) => `${prefix}-${slug}_${part}`,
    inlineMachines: `${prefix}-x-`,
    releaseAlarm: `${prefix}-ReleaseFailureRate`,
    documentAlias: (dag_hash) => `document-${dag_hash.slice(0, 40)}`,
  }
}

/** The part of a machine's name that comes from the DAG's: `[a-z0-9-]{1,40}`; empty when nothing is left of it. */
export function machineSlug(dagName: string): string {
  const words =
    dagName
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 40).replace(/-+$/, '')
}
