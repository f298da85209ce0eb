import { researchMachine } from '../../shared/research/research-machine.ts'
import type { DagMachineProps } from './dag-machine.ts'

/** The machine of the research chain, deployed as that of a document: `sluice-<stage>-research`. */
export function deployedResearch(): DagMachineProps['dag'] {
  const { text, hash } = researchMachine()
  return { slug: RESEARCH_SLUG, dag_hash: hash, definition: text, parts: [] }
}

/** No document may have it. */
export const RESEARCH_SLUG = 'research'
