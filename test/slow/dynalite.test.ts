import { startDynalite } from '../emulators/dynamodb.ts'
import { admitGraphStore } from '../integration/aws/dynamodb-graph-store.ts'
import { admitRunStore } from '../integration/aws/dynamodb-run-store.ts'
import { admitSpending } from '../integration/aws/dynamodb-spending.ts'
import { admitTokens } from '../integration/aws/dynamodb-tokens.ts'
import { admitTriggers } from '../integration/aws/dynamodb-triggers.ts'
import { admitWaits } from '../integration/aws/dynamodb-waits.ts'

/** The suites of the table's ports on the second emulator, which npm test asks only where the first is not installed. */
admitRunStore('dynalite', startDynalite)
admitGraphStore('dynalite', startDynalite)
admitSpending('dynalite', startDynalite)
admitTokens('dynalite', startDynalite)
admitWaits('dynalite', startDynalite)
admitTriggers('dynalite', startDynalite)
