package store_test

import (
	"flag"
	"testing"

	"bitboard/internal/store/storetest"
)

// laws hold on every kind of store.
var laws = []struct {
	name string
	law  func(*testing.T, storetest.Kind)
}{
	{"catalogue is shared between stores", catalogueIsSharedBetweenStores},
	{"unchanged catalogue is the same snapshot", unchangedCatalogueIsTheSameSnapshot},
	{"scan finds keys of other programs", scanFindsKeysOfOtherPrograms},
	{"scan drops keys that are gone", scanDropsKeysThatAreGone},
	{"scan keeps what is written meanwhile", scanKeepsWhatIsWrittenMeanwhile},
	{"emptied store has an empty catalogue", emptiedStoreHasAnEmptyCatalogue},
	{"older catalogue is read from nothing", olderCatalogueIsReadFromNothing},
	{"write is seen although its catalogue entry was deleted", writeIsSeenWithoutItsEntry},

	{"writers killed at each step", writersKilledAtEachStep},
	{"store emptied while IDs get offsets", storeEmptiedWhileIDsGetOffsets},
	{"offset with a mark is handed out to nobody", offsetWithAMarkIsHandedOutToNobody},
	{"lost counter begins above all users", lostCounterBeginsAboveAllUsers},

	{"concurrent writers agree on offsets", concurrentWritersAgreeOnOffsets},
	{"assign keeps order and repeats", assignKeepsOrderAndRepeats},
	{"assign more than a pipeline takes", assignMoreThanAPipelineTakes},
	{"malformed ID assigns nothing", malformedIDAssignsNothing},
	{"offsets end at the highest", offsetsEndAtTheHighest},
	{"retried reverse entry is harmless", retriedReverseEntryIsHarmless},
	{"offset that nobody has has no ID", offsetThatNobodyHasHasNoID},
	{"find", find},
	{"dense IDs are their offsets", denseIDsAreTheirOffsets},
	{"emptied store hands out offsets afresh", emptiedStoreHandsOutOffsetsAfresh},
	{"find all leaves out who is not known", findAllLeavesOutWhoIsNotKnown},

	{"key of another type is named", keyOfAnotherTypeIsNamed},
	{"damaged key is named", damagedKeyIsNamed},

	{"forget", forget},
	{"forgotten offset is never given again", forgottenOffsetIsNeverGivenAgain},
	{"users of whom nothing is stored", usersOfWhomNothingIsStored},
	{"forget of dense IDs", forgetOfDenseIDs},
	{"forget makes no bitmap longer", forgetMakesNoBitmapLonger},
	{"forget erases what losers left", forgetErasesWhatLosersLeft},
	{"writer that remembers", writerThatRemembers},
	{"scan clears what a dead writer left", scanClearsWhatADeadWriterLeft},
	{"forget during a replace", forgetDuringAReplace},
	{"forget while others write", forgetWhileOthersWrite},
	{"forget killed after each step", forgetKilledAfterEachStep},

	{"sync that nobody finished in time is reported", syncThatNobodyFinishedInTimeIsReported},
	{"late sync with everything staged is finished", lateSyncWithEverythingStagedIsFinished},
	{"evicted staged key changes nothing in its segment", evictedStagedKeyChangesNothingInItsSegment},
	{"commit says what it lost", commitSaysWhatItLost},
	{"sync without its record is forgotten", syncWithoutItsRecordIsForgotten},

	{"history is the union of its days", historyIsTheUnionOfItsDays},
	{"history of many days", historyOfManyDays},
	{"history of nobody", historyOfNobody},
	{"history that is gone is an error", historyThatIsGoneIsAnError},
	{"history is not derived from one that is gone", historyIsNotDerivedFromOneThatIsGone},
	{"scan sweeps histories", scanSweepsHistories},
	{"forgotten users are in no history", forgottenUsersAreInNoHistory},

	{"imported IDs have their offsets", importedIDsHaveTheirOffsets},
	{"pairs that clash with the store", pairsThatClashWithTheStore},
	{"offsets handed out while pairs are checked", offsetsHandedOutWhilePairsAreChecked},
	{"ID assigned between check and write", idAssignedBetweenCheckAndWrite},
	{"two imports never share an offset", twoImportsNeverShareAnOffset},
	{"import of IDs killed at each step", importOfIDsKilledAtEachStep},
	{"one import of IDs at a time", oneImportOfIDsAtATime},

	{"one process has the turn", oneProcessHasTheTurn},
	{"record of a job", recordOfAJob},

	{"saved cohorts are shared between stores", savedCohortsAreSharedBetweenStores},
	{"saved cohort is checked on what others changed", savedCohortIsCheckedOnWhatOthersChanged},
	{"saved cohorts of many writers", savedCohortsOfManyWriters},
	{"repeated change of a saved cohort", repeatedChangeOfASavedCohort},
	{"emptied store has no saved cohorts", emptiedStoreHasNoSavedCohorts},
	{"saved cohorts are records", savedCohortsAreRecords},

	{"list is shared between stores", listIsSharedBetweenStores},
	{"list that is no cohort any more is removed", listThatIsNoCohortAnyMoreIsRemoved},
	{"list that is gone is an error", listThatIsGoneIsAnError},
	{"forgotten users are in no list", forgottenUsersAreInNoList},
	{"scan sweeps lists", scanSweepsLists},

	{"presence counter is the number of bits", presenceCounterIsTheNumberOfBits},
	{"presence stays until taken back", presenceStaysUntilTakenBack},
	{"heartbeats of some minutes", heartbeatsOfSomeMinutes},
	{"forgotten user is not there", forgottenUserIsNotThere},
	{"presence numbers that are spoilt", presenceNumbersThatAreSpoilt},

	{"layout record", layoutRecord},
	{"the same layout opens again", theSameLayoutOpensAgain},
	{"another layout is refused", anotherLayoutIsRefused},
	{"of two first starters one wins", ofTwoFirstStartersOneWins},

	{"merge and clear agree with the model", mergeAndClearAgreeWithTheModel},
	{"merge twice changes nothing", mergeTwiceChangesNothing},
	{"highest offset", highestOffset},
	{"clear leaves absent bitmaps absent", clearLeavesAbsentBitmapsAbsent},
	{"merge keeps expiry", mergeKeepsExpiry},

	{"fetched ranges", fetchedRanges},

	{"failed merge leaves no empty day", failedMergeLeavesNoEmptyDay},
	{"interrupted merge leaves no empty day", interruptedMergeLeavesNoEmptyDay},

	{"programs agree with the model", programsAgreeWithTheModel},
	{"difference of unequal lengths", differenceOfUnequalLengths},
	{"malformed programs are refused", malformedProgramsAreRefused},
	{"error within a program is an error", errorWithinAProgramIsAnError},
	{"bits past a segment are nobody's", bitsPastASegmentAreNobodys},
	{"marks of a user", marksOfAUser},

	{"swaps change with each replacement", swapsChangeWithEachReplacement},
	{"swaps finish what nobody does", swapsFinishWhatNobodyDoes},
	{"swaps give a running process its time", swapsGiveARunningProcessItsTime},

	{"sync replaces days", syncReplacesDays},
	{"sync agrees with the model", syncAgreesWithTheModel},
	{"sync to nobody leaves a marker", syncToNobodyLeavesAMarker},
	{"sync removes what other programs wrote", syncRemovesWhatOtherProgramsWrote},
	{"dropped sync changes nothing", droppedSyncChangesNothing},
	{"sync that shrinks a day is refused", syncThatShrinksADayIsRefused},
	{"half of a day is not too little", halfOfADayIsNotTooLittle},
	{"interrupted sync is finished", interruptedSyncIsFinished},
	{"writes after an interrupted sync stay", writesAfterAnInterruptedSyncStay},
	{"sync interrupted before its commit changes nothing", syncInterruptedBeforeItsCommitChangesNothing},
	{"sync whose staged marks are gone changes nothing", syncWhoseStagedMarksAreGoneChangesNothing},
	{"sync keeps expiry", syncKeepsExpiry},
	{"one sync at a time", oneSyncAtATime},
}

// notInMemory says why a law is not tested on the store in memory.
var notInMemory = map[string]string{
	"key of another type is named":         "no other program can write into it",
	"older catalogue is read from nothing": "nothing can be restored into it",
	"presence numbers that are spoilt":     "no other program can write into it",
	"merge keeps expiry":                   "its keys expire a second early or late",
	"sync keeps expiry":                    "its keys expire a second early or late",
	"scan keeps what is written meanwhile": "it is slow with many writers, and has but one process",
	"concurrent writers agree on offsets":  "it is slow with many writers, and has but one process",
	"forget while others write":            "it is slow with many writers, and has but one process",
	"assign more than a pipeline takes":    "it is slow with many IDs, and made for a demonstration",
}

// checks is how many random cases of a property a kind of store gets. What is
// checked is the same code; the quickest kind gets the most.
var checks = map[string]string{
	storetest.OnRedis.Name: "60", storetest.OnCluster.Name: "10", storetest.OnMemory.Name: "5",
}

// TestConformance tests each law on each kind of store, as the sub-test
// TestConformance/KIND/LAW.
func TestConformance(t *testing.T) {
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		setChecks(t, checks[k.Name])
		for _, l := range laws {
			if k.Name != storetest.OnMemory.Name || notInMemory[l.name] == "" {
				t.Run(l.name, func(t *testing.T) { l.law(t, k) })
			}
		}
	})
}

// setChecks sets how many random cases properties get until the test ends,
// unless the command line says it.
func setChecks(t *testing.T, n string) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before != f.DefValue {
		return
	}
	if err := f.Value.Set(n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
}
