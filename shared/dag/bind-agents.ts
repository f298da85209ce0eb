import { canonicalJson, sha256 } from '../canonical.ts'
import type { Issue } from '../errors.ts'
import { answererOf } from '../provider-settings.ts'
import type { Routing } from '../settings.ts'
import type { Agent, Block, Dag } from './dag.ts'
import { type FoundAgent, findAgent } from './find-agent.ts'

export type BoundDag =
  | { readonly ok: true; readonly dag: Dag }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * The document a run is pinned to: every ai block has its provider and model, found by its route where it has one, and
 * a hash that also stands for what answers it, so that a kept result of another model or server is not taken for its
 * own. The identity of the DAG stays that of the document as written.
 */
export function bindAgents(dag: Dag, routing: Routing): BoundDag {
  const issues: Issue[] = []
  const blocks = dag.blocks.map((block) => {
    if (block.mode !== 'ai') return block
    const found = findAgent(block.agent, routing)
    if (found.ok) return bound(block, found, routing)
    issues.push(issueOf(block, found))
    return block
  })
  return issues.length === 0 ? { ok: true, dag: { ...dag, blocks } } : { ok: false, issues }
}

type AiBlock = Extract<Block, { mode: 'ai' }>

function bound(block: AiBlock, found: Extract<FoundAgent, { ok: true }>, { providers }: Routing): Block {
  const { provider, model } = found
  const own = block.agent.system ?? found.agent?.system
  const name = found.agent === undefined ? {} : { agent: found.agent.name }
  const agent: Agent = { ...block.agent, provider, model, ...name, ...(own === undefined ? {} : { system: own }) }
  const settings = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  const answers = { type: settings?.type ?? provider, url: settings === undefined ? '' : answererOf(settings) }
  return {
    ...block,
    agent,
    hash: sha256(canonicalJson({ block: block.hash, provider, model, system: own ?? '', answers })),
  }
}

function issueOf({ id, index }: Block, { code, text, hint }: Extract<FoundAgent, { ok: false }>): Issue {
  const message = `Block "${id}" ${text}.`
  return { code, path: `blocks[${index}].agent`, message, ...(hint === undefined ? {} : { hint }) }
}
