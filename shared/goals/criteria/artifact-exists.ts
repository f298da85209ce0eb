import * as z from 'zod'
import type { Evidence } from '../evidence.ts'
import { globMatcher, readGlob } from '../glob.ts'
import { CRITERION_BASE, type CriterionKind, type Judgement, sourceOf } from './criterion.ts'

const ArtifactExistsSchema = z.strictObject({
  ...CRITERION_BASE,
  kind: z.literal('artifact_exists'),
  artifactPattern: z
    .string()
    .regex(/\S/, 'it must not be blank')
    .max(500)
    .refine((glob) => readGlob(glob).ok, 'it is a glob that cannot be read: * ? ** [abc] {a,b} are understood'),
})
type ArtifactExists = z.infer<typeof ArtifactExistsSchema>

export const artifactExists: CriterionKind<ArtifactExists> = {
  kind: 'artifact_exists',
  summary:
    'An artifact whose path fits the glob exists. `*` and `?` do not cross `/`, `**` does; without `/` the base name is compared; case counts.',
  example: { id: 'AC3', kind: 'artifact_exists', artifactPattern: '**/*.pkl' },
  schema: ArtifactExistsSchema,
  target: ({ artifactPattern }) => artifactPattern,
  asks: ({ artifactPattern }) => `an artifact whose path fits ${artifactPattern} is written`,
  judge,
  suggest: ({ artifactPattern }) => `Write an artifact whose path fits ${artifactPattern}`,
}

function judge({ artifactPattern }: ArtifactExists, { artifacts }: Evidence): Judgement {
  const fits = globMatcher(artifactPattern)
  const found = artifacts.find(({ name }) => fits(name))
  if (found === undefined) return { status: 'NOT_MET', message: `no artifact fits ${artifactPattern}` }
  return { status: 'MET', actualValue: found.name, message: `${found.name} exists`, source: sourceOf(found) }
}
