import { parseArgs } from 'node:util'
import { prove } from '../clients/cli/aws/prove/prove.ts'
import { Refused, reasonLines } from '../clients/cli/terminal/refused.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import { blackBoxFiles, suites } from './prove/suites.ts'

/**
 * `npm run prove:aws -- [--yes] [--profile P] [--region R] [--report FILE]`: `sluice deploy --prove` of this clone, and besides
 * the files of test/aws that ask over HTTP alone. For whoever has an account.
 */
const { values } = parseArgs({
  options: {
    yes: { type: 'boolean' },
    profile: { type: 'string' },
    region: { type: 'string' },
    report: { type: 'string' },
    blocks: { type: 'string', default: '1000' },
  },
})
const session = openSession()
const { profile, region, report } = values
const env = session.environment({
  ...(profile !== undefined && { AWS_PROFILE: profile }),
  ...(region !== undefined && { AWS_REGION: region }),
})
try {
  const yes = values.yes === true ? { yes: true as const } : {}
  const options = { profile, region, report, blocks: Number(values.blocks), ...yes }
  await prove(session, options, [suites(blackBoxFiles(), env)])
} catch (error) {
  if (!(error instanceof Refused)) throw error
  for (const line of reasonLines(error.reason, 'npm run -s sluice --')) session.warn(line)
  process.exitCode = error.exitCode
}
