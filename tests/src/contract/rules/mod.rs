//! The rules, in the contract's order.

mod drain;
mod edge;
mod error;
mod examples;
mod shape;
mod token;
mod wrapper;

use super::{Grid, PeState, Wrapper};
use crate::level::{Level, Rule};
use systole_hdl::wire::ErrorKind;

macro_rules! rules {
    ($($module:ident: $($name:ident),* $(,)?;)*) => {
        vec![$($(Rule { name: stringify!($name), only: None, check: $module::$name }),*),*]
    };
}

/// The rules of the array alone.
pub fn grid() -> Vec<Rule<dyn Grid>> {
    let mut rules = rules! {
        shape:
            r01_nine_pes_take_five_terms_each, r02_impossible_designs_are_refused,
            r03_counters_hold_k_and_tags_hold_k_minus_one, r04_operands_meet_at_step_k_plus_i_plus_j,
            r05_the_last_pe_finishes_after_edge_k_plus_2n_minus_3, r06_drain_edges_follow_the_last_injection,
            r07_pauses_delay_and_change_nothing, r08_the_formulas_are_of_an_unpipelined_array;
        edge:
            r09_an_edge_takes_and_forwards_the_same_inputs, r09_reset_and_clear_end_before_e0,
            r10_a_result_on_edge_zero, r11_no_token_crosses_two_pes_on_one_edge,
            r12_links_carry_whole_tokens_from_neighbour_to_neighbour,
            r12_clear_and_advance_are_shared_by_the_whole_grid, r13_reset_beats_clear_beats_advance,
            r14_reset_and_clear_empty_everything, r15_without_advance_everything_holds,
            r16_reset_and_clear_work_during_a_pause, r17_samples_show_the_state_after_the_edge;
        token:
            r18_bubbles_are_ignored_whatever_their_bits, r18_a_valid_zero_counts,
            r18_bubbles_between_terms_only_delay, r19_connections_fix_row_and_column,
            r20_partners_must_agree_on_k, r20_partners_must_agree_on_job, r21_terms_are_counted_not_clocks,
            r21_a_sixth_term_of_five_is_an_error, r22_the_two_term_example, r23_k_comes_in_order;
        error:
            r24_an_unpaired_operand_is_an_error, r24_missing_terms_show_in_the_count, r24a_operands_are_signed,
            r24a_the_largest_sums_are_exact, r24b_precedence_within_one_edge,
            r24b_the_first_kind_is_kept_until_clear, r24b_checks_act_on_advancing_edges_only,
            r24b_an_error_is_told_where_it_happens, r28_streams_without_skew_are_caught, r28_wrong_tags_are_caught,
            r28_repeated_terms_are_caught;
        drain:
            r25_tokens_remain_when_the_last_input_has_entered, r25_the_drain_empties_the_links,
            r26_a_drained_array_is_not_a_cleared_one, r26_nothing_survives_a_clear,
            r28_valid_state_left_over_is_caught, r28_zeros_count_and_bubbles_do_not;
    };
    // The gateware's grids are square.
    rules.push(Rule {
        name: "r01_rectangular_arrays",
        only: Some(&[Level::Software]),
        check: shape::r01_rectangular_arrays,
    });
    // 65,536 lines of stimulus are cheap in a process, and a waste in a text file.
    rules.push(Rule {
        name: "r24a_the_longest_reduction_is_exact",
        only: Some(&[Level::Software, Level::RustHdl]),
        check: error::r24a_the_longest_reduction_is_exact,
    });
    rules
}

/// The rules of the wrapper.
pub fn wrapper() -> Vec<Rule<dyn Wrapper>> {
    rules! {
        wrapper:
            r02_impossible_designs_are_refused_with_a_wrapper, r05_steps_are_counted_as_they_happen,
            r07_paused_edges_are_counted_apart, r15_a_pause_changes_no_result, r19_results_come_row_major,
            r24_missing_terms_are_reported, r24a_lengths_beyond_the_limit_are_refused,
            r24a_the_largest_sums_come_back, r24b_every_injection_at_every_step,
            r24b_the_lowest_pe_is_reported_not_the_worst_kind, r25_results_are_collected_after_the_drain,
            r26_nothing_of_a_bad_job_is_left_in_the_next, r27_one_job_at_a_time,
            r27_a_start_in_mid_job_is_refused_and_disturbs_nothing, r28_a_fault_acts_on_one_job_only;
    }
}

fn sums(pes: &[PeState]) -> Vec<i64> {
    pes.iter().map(|pe| pe.acc).collect()
}

fn counts(pes: &[PeState]) -> Vec<u32> {
    pes.iter().map(|pe| pe.count).collect()
}

fn errors(pes: &[PeState]) -> Vec<Option<ErrorKind>> {
    pes.iter().map(|pe| pe.error).collect()
}
