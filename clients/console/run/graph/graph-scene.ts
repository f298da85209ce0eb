import { computed, type ReadonlySignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { attemptAndWaitSpans, blockWaits, criticalChain } from '../session/critical-path.ts'
import { documentOf, type GraphAnswer, type RunSession, shownMoment } from '../session/run-session.ts'
import { type BlockStatuses, blockStatuses } from './block-status.ts'

/** What the picture and the table of blocks are drawn from; a node reads its own part of it only. */
export interface GraphScene {
  readonly graph: GraphAnswer
  readonly lives: ReadonlySignal<BlockStatuses>
  /** Blocks of the chain that determined the end; before anything has run, of the longest one there is. */
  readonly critical: ReadonlySignal<CriticalMarks>
  /** While an earlier moment is shown: that moment, at which clocks stand still. */
  readonly until: ReadonlySignal<string | undefined>
  /** What does the work of each block: `ai · local llama3:8b`. */
  readonly work: ReadonlyMap<string, string>
}

/** What is marked in the picture: blocks, and the edges between two that follow one another in the chain. */
interface CriticalMarks {
  readonly blocks: ReadonlySet<string>
  /** `from to` */
  readonly edges: ReadonlySet<string>
}

export function useGraphScene(graph: GraphAnswer, session: RunSession): GraphScene {
  return useMemo(() => {
    const ids = graph.nodes.map(({ id }) => id)
    let before: BlockStatuses | undefined
    const lives = computed(() => {
      before = blockStatuses(ids, session.fold.value, before)
      return before
    })
    return {
      graph,
      lives,
      critical: criticalOf(graph, session),
      until: shownMoment(session),
      work: workOf(graph, session),
    }
  }, [graph, session])
}

function criticalOf(graph: GraphAnswer, { fold, events, answer }: RunSession): ReadonlySignal<CriticalMarks> {
  const blocks = blockWaits(documentOf(answer.peek())?.blocks ?? [])
  return computed(() => {
    const spans = attemptAndWaitSpans(fold.value, events.value)
    const chain = spans.length === 0 ? graph.critical_path.blocks : criticalChain({ blocks, spans }).blocks
    return { blocks: new Set(chain), edges: new Set(chain.map((id, n) => `${chain[n - 1]} ${id}`)) }
  })
}

function workOf({ nodes }: GraphAnswer, { answer }: RunSession): ReadonlyMap<string, string> {
  const blocks = new Map(documentOf(answer.peek())?.blocks?.map((block) => [block.id, block]))
  return new Map(
    nodes.map(({ id, mode, child }) => {
      const block = blocks.get(id)
      if (block?.mode === 'ai') return [id, `ai · ${block.agent.provider} ${block.agent.model}`]
      if (block?.mode === 'deterministic') return [id, block.handler]
      return [id, child === undefined ? mode : `runs ${child}`]
    }),
  )
}
