import { beforeAll, expect, test } from 'vitest'
import { stepFunction, stepSlug } from '../../../shared/steps/described-step.ts'
import { type Policies, readPolicies } from '../../aws/iam-policy.ts'
import { readTemplates } from '../../aws/template.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { assembled } from './assembled.ts'
import { stacksIn } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'

/** What the functions of steps may reach: the objects of their own tenant, by the roles of the templates. */
const BUCKET = `sluice-dev-${ACCOUNT}-${REGION}`
const STEP = './steps/notify.js'
const FILES = {
  'steps/notify.js': `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({ inputs: z.object({}), outputs: z.object({ done: z.boolean() }), run: () => ({ done: true }) })
`,
  'dags/notifies.yaml': `name: notifies
blocks: [{ id: notify, mode: deterministic, deterministic: { handler: ${STEP} } }]
`,
}

let policies: Policies
beforeAll(async () => {
  const { slack: _, ...rest } = slackSettings()
  const { out } = await assembled({ 'sluice:tenants': 'main,acme' }, { ...rest, tenants: ['main', 'acme'] }, FILES)
  policies = readPolicies(readTemplates(out, stacksIn(out)))
}, 240_000)

const stepOf = (tenant: string) => stepFunction('dev', stepSlug(STEP), tenant)
const may = (name: string, action: string, resource: string) => policies.grants(name, { action, resource }).length > 0

test.each([
  ['main', 'acme'],
  ['acme', 'main'],
])('the function that runs a step for %s reaches the objects of that tenant, and none of %s', (own, other) => {
  const reached = ['s3:GetObject', 's3:PutObject'].map((action) =>
    [own, other].map((tenant) => may(stepOf(own), action, `arn:aws:s3:::${BUCKET}/${tenant}/objects/ab/cd`)),
  )
  expect(reached).toEqual([
    [true, false],
    [true, false],
  ])
})

test('the main tenant has the function there was before there were others, and open-step starts those of all', () => {
  expect(stepOf('main')).toBe(stepFunction('dev', stepSlug(STEP)))
  const arn = (name: string) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`
  for (const name of [stepOf('main'), stepOf('acme')]) {
    expect(may('sluice-dev-open-step', 'lambda:InvokeFunction', `${arn(name)}:1`)).toBe(true)
    expect(may('sluice-dev-open-step', 'lambda:ListVersionsByFunction', arn(name))).toBe(true)
  }
  expect(may('sluice-dev-open-step', 'lambda:InvokeFunction', `${arn('somebody-elses')}:1`)).toBe(false)
})
