import { isActing } from '../../shared/agents/agent-items.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import { dagGraph } from '../../shared/plan/dag-graph.ts'
import { drawMermaid } from '../../shared/plan/draw.ts'
import { GALLERY, type GalleryEntry } from './gallery-entries.ts'

/** What a run of a document gave: its lines, and the beginning of what it left. */
export interface Shown {
  readonly lines: readonly string[]
  readonly artifact: readonly string[]
}

type Documents = ReadonlyMap<string, Dag>

/** docs/gallery.md: a table of what shows what, and a section a document. */
export function galleryPage(dags: Documents, shown: ReadonlyMap<string, Shown>): string {
  const sections = GALLERY.flatMap((entry) => {
    const dag = dags.get(entry.name)
    const run = shown.get(entry.name)
    return dag === undefined || run === undefined ? [] : [section(entry, dag, run)]
  })
  return `${[INTRODUCTION, featureTable(dags), ...sections].join('\n\n')}\n`
}

const INTRODUCTION = `# Gallery

<!-- Written by \`npm run docs:gallery\` out of dags/, scripts/gallery/gallery-entries.ts and real runs; do not edit. -->

Documents from different fields, each a whole: data it brings along, gates that can refuse it, an end a person can use. All run offline with provider \`local\`, which is text tools and no model, and says so; name a model in sluice.yaml and the same documents ask it ([providers.md](providers.md)). Tests run every one of them to its end in both places, and break its input to see the right gate refuse it. Pictures are \`sluice graph FILE\`; the lines are of a real run, with ids and times taken out, and what went well left out.

A document that names its data as the default of an input runs as it is; give another with \`--input NAME=..\`, or a file of values with \`--context-json\`.`

function featureTable(dags: Documents): string {
  const head = ['document', ...FEATURE_NAMES]
  const rows = GALLERY.flatMap(({ name }) => {
    const dag = dags.get(name)
    const used = dag === undefined ? [] : documentFeatures(dag)
    return [[`[${name}](#${name})`, ...FEATURE_NAMES.map((feature) => (used.includes(feature) ? 'x' : ''))]]
  })
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `## What shows what\n\n${lines.join('\n')}`
}

function section(entry: GalleryEntry, dag: Dag, { lines, artifact }: Shown): string {
  const before = entry.before === undefined ? [] : [entry.before]
  const command = [...before, `sluice ${entry.command}`].join('\n')
  const left = artifact.length === 0 ? [] : [`What it leaves, \`${entry.artifact}\`, begins:`, fenced('text', artifact)]
  return [
    `## ${entry.name}`,
    `**${entry.title}.** ${entry.about} [The document](../dags/${entry.name}.yaml).`,
    entry.shows.map((line) => `- ${line}`).join('\n'),
    fenced('mermaid', [drawing(dag)]),
    fenced('sh', [command]),
    fenced('text', lines),
    ...left,
  ].join('\n\n')
}

/** The picture of a document as the page has it. */
export function drawing(dag: Dag): string {
  return drawMermaid(dagGraph(dag, () => 1)).trimEnd()
}

/** Four marks, since what is shown may have three of its own. */
function fenced(language: string, lines: readonly string[]): string {
  const marks = lines.some((line) => line.startsWith('```')) ? '````' : '```'
  return [`${marks}${language}`, ...lines, marks].join('\n')
}

/** Parts of the language a page can tell apart, each with how a document is seen to use it. */
const FEATURES: readonly (readonly [name: string, uses: (dag: Dag) => boolean])[] = [
  ['ai', some(({ mode }) => mode === 'ai')],
  ['tools', some(isActing)],
  ['deterministic', some(({ mode }) => mode === 'deterministic')],
  ['research', some(({ mode }) => mode === 'research')],
  ['child', some(({ mode }) => mode === 'dag')],
  ['wait', some(({ mode }) => mode === 'wait')],
  ['approval', some(({ mode, approval }) => mode === 'approval' || approval !== undefined)],
  ['quorum', some(({ approval }) => (approval?.quorum ?? 1) > 1)],
  ['pre-gates', some(({ pre_gates }) => pre_gates.length > 0)],
  ['post-gates', some(({ post_gates }) => post_gates.length > 0)],
  ['retry', some(({ retry }) => retry.max_attempts > 1)],
  ['bounce', some(({ on_gate_fail }) => (on_gate_fail ?? []).length > 0)],
  ['when', some((block) => block.when !== undefined)],
  ['depends', some((block) => block.depends !== undefined)],
  ['foreach', some((block) => block.foreach !== undefined)],
  ['cache', some((block) => block.cache !== undefined)],
  ['budget', ({ budget, blocks }) => budget !== undefined || blocks.some((block) => block.budget !== undefined)],
  ['goal', ({ completion, goal_contract }) => completion !== undefined || goal_contract !== undefined],
]

export const FEATURE_NAMES: readonly string[] = FEATURES.map(([name]) => name)

/** Names of the parts of the language a document uses. */
export function documentFeatures(dag: Dag): readonly string[] {
  return FEATURES.filter(([, uses]) => uses(dag)).map(([name]) => name)
}

function some(fits: (block: Block) => boolean): (dag: Dag) => boolean {
  return ({ blocks }) => blocks.some(fits)
}
